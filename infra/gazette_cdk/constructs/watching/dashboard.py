"""The dashboard of a stage: its story, and a row of graphs for each question in `panels`."""

from collections.abc import Iterable, Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IConstruct

from gazette_cdk.constructs.alarms import own_metric
from gazette_cdk.constructs.queues import WatchedQueue
from gazette_cdk.constructs.watching.panels import PANELS, Measured, Panel
from gazette_cdk.constructs.watching.parts import name_in, of_kind
from gazette_cdk.constructs.web.http_api import ReadersApi
from gazette_cdk.stage import Stage

_FIVE = Duration.minutes(5)
_WIDTH, _HEIGHT, _TEXT, _TILES = 8, 6, 5, 8
_A_ROW = 24
"""The width of a dashboard row, in units of the CloudWatch grid."""


class Dashboard(cloudwatch.Dashboard):
    """A dashboard of the queues, functions and APIs that the stack already contains."""

    def __init__(self, stack: Construct, *, stage: Stage, story: cloudwatch.IWidget) -> None:
        super().__init__(
            stack,
            "Dashboard",
            dashboard_name=f"gazette-{stage.name}",
            default_interval=Duration.hours(12),
        )
        self.add_widgets(story)
        parts = stack.node.find_all()
        for question, panels in PANELS.items():
            visible = [panel for panel in panels if _is_shown(panel, stage)]
            self.add_widgets(
                cloudwatch.TextWidget(
                    markdown=_heading(question, visible), width=_A_ROW, height=_TEXT
                )
            )
            if any(panel.measured is Measured.ALARMS for panel in visible):
                self.add_widgets(_alarms(parts))
            graphs = [
                _graph(panel, parts, stage)
                for panel in visible
                if panel.measured is not Measured.ALARMS
            ]
            a_row = _A_ROW // _WIDTH
            for start in range(0, len(graphs), a_row):
                self.add_widgets(*graphs[start : start + a_row])


def _is_shown(panel: Panel, stage: Stage) -> bool:
    if panel.asks_source:
        return stage.asks_source
    return not panel.tracked or stage.track_opens or stage.track_clicks


def _heading(question: str, panels: Iterable[Panel]) -> str:
    """Return the text above a row of graphs: the question, and the reasons to worry."""
    worries = "  \n".join(f"**{panel.title}:** {panel.worry}" for panel in panels)
    return f"## {question}\nWorry when:  \n{worries}"


def _alarms(parts: Iterable[IConstruct]) -> cloudwatch.AlarmStatusWidget:
    """Return the tiles of all alarms, those that fire first. A tile opens the alarm and its graph.

    A widget takes up to 100 alarms. It does not reference metrics.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
    """
    return cloudwatch.AlarmStatusWidget(
        title="Alarms",
        alarms=of_kind(parts, cloudwatch.Alarm),
        sort_by=cloudwatch.AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
        width=_A_ROW,
        height=_TILES,
    )


def _graph(panel: Panel, parts: Iterable[IConstruct], stage: Stage) -> cloudwatch.GraphWidget:
    if panel.measured:
        metrics = _measured(panel.measured, parts, stage)
    else:
        metrics = [
            own_metric(name, stage, statistic, period=_FIVE).with_(
                label=name if len(statistics) == 1 else f"{name} {statistic}"
            )
            for name, statistics in panel.own
            for statistic in statistics
        ]
    return cloudwatch.GraphWidget(
        title=panel.title,
        left=metrics,
        width=_WIDTH,
        height=_HEIGHT,
        left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
    )


def _measured(
    what: Measured, parts: Iterable[IConstruct], stage: Stage
) -> Sequence[cloudwatch.IMetric]:
    fed = [each for each in of_kind(parts, sqs.Queue) if not isinstance(each, WatchedQueue)]
    match what:
        case Measured.AGES:
            return [
                each.metric_approximate_age_of_oldest_message(
                    period=_FIVE, statistic=cloudwatch.Stats.MAXIMUM, label=name_in(stage, each)
                )
                for each in fed
            ]
        case Measured.NUMBERS:
            return [
                each.metric_approximate_number_of_messages_visible(
                    period=_FIVE, statistic=cloudwatch.Stats.MAXIMUM, label=name_in(stage, each)
                )
                for each in fed
            ]
        case Measured.API:
            return [
                cloudwatch.Metric(
                    namespace="AWS/ApiGateway",
                    metric_name=name,
                    dimensions_map={"ApiId": each.api_id},
                    period=_FIVE,
                    statistic=cloudwatch.Stats.SUM,
                    label=name,
                )
                for each in of_kind(parts, ReadersApi)
                for name in ("Count", "4xx", "5xx")
            ]
        case Measured.ALARMS:
            raise ValueError("Alarms are tiles, not lines of a graph.")
