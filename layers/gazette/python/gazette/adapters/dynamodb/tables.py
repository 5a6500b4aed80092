"""The DynamoDB tables as PynamoDB models: attributes, keys and indexes.

docs/tables.md describes the purpose of each table and the cost of each write.
"""

from pynamodb.attributes import (
    BinaryAttribute,
    BooleanAttribute,
    NumberAttribute,
    NumberSetAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.indexes import (
    AllProjection,
    GlobalSecondaryIndex,
    IncludeProjection,
    KeysOnlyProjection,
    LocalSecondaryIndex,
)

from gazette.adapters.dynamodb.client import Row
from gazette.adapters.dynamodb.values import ExpiryAttribute, InstantAttribute, WholeAttribute
from gazette.domain.identity import LAST_SEQUENCE

_MICROSECONDS = 253_402_300_799_999_999
"""The latest instant that Python supports. A circuit breaker that was opened by an operator stays
open until then."""


class SubscriberRow(Row):
    """The `subscribers` table, with one row per user id.

    A row without `email` has no profile. It contains activity and choices that arrived before the
    profile, or records an erasure. `choices` is JSON: [[instant, {category: frequency}], …].
    `service_choices`, `reader_choices` and `reader_categories` are JSON too (see attributes.py),
    and absent from most rows. `mutes` is JSON: [[instant, entity, is muted, title], …].
    `quiet_hours` is JSON: {"service": [[instant, value], …], "reader": [[instant, value], …]}.
    """

    class Meta:
        table_name = ""

    user_id = UnicodeAttribute(hash_key=True)
    email = UnicodeAttribute(null=True)
    name = UnicodeAttribute(null=True)
    locale = UnicodeAttribute(null=True)
    time_zone = UnicodeAttribute(null=True)
    status = UnicodeAttribute(null=True)
    changed_at = InstantAttribute(null=True)
    hour = WholeAttribute(most=23, null=True)
    minute = WholeAttribute(most=59, null=True)
    weekly_on = WholeAttribute(least=1, most=7, null=True)
    custom_on = UnicodeAttribute(null=True)
    paused_until = UnicodeAttribute(null=True)
    choices = UnicodeAttribute(null=True)
    service_choices = UnicodeAttribute(null=True)
    reader_choices = UnicodeAttribute(null=True)
    reader_categories = UnicodeAttribute(null=True)
    mutes = UnicodeAttribute(null=True)
    quiet_hours = UnicodeAttribute(null=True)
    registered_on = UnicodeAttribute(null=True)
    paused_last = UnicodeAttribute(null=True)
    active_on = UnicodeAttribute(null=True)
    seen_until = UnicodeAttribute(null=True)
    resumed_at = InstantAttribute(null=True)
    routed_for = UnicodeAttribute(null=True)
    routes_since = InstantAttribute(null=True)
    revision = WholeAttribute(null=True)
    erased_at = InstantAttribute(null=True)
    addressed_after = InstantAttribute(null=True)
    left_at = InstantAttribute(null=True)
    left_again_at = InstantAttribute(null=True)
    consented_at = InstantAttribute(null=True)
    returned_at = InstantAttribute(null=True)


class FollowerIndex(GlobalSecondaryIndex["FollowRow"]):
    """An index of a user's follows, for erasure and the preference page. It contains keys only."""

    class Meta:
        index_name = "by_user"
        projection = KeysOnlyProjection()

    user_id = UnicodeAttribute(hash_key=True)
    entity = UnicodeAttribute(range_key=True)


class FollowRow(Row):
    """The `follows` table. `changes` is JSON: [[instant, following, frequency or null, title], …].

    An empty title is omitted. Only ended follows expire.
    """

    class Meta:
        table_name = ""

    entity = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute(range_key=True)
    changes = UnicodeAttribute()
    expires_at = ExpiryAttribute(null=True)
    by_user = FollowerIndex()


class OccurredIndex(LocalSecondaryIndex["ActivityRow"]):
    """A local index of an entity's activities by time. When a follow arrives late, ingest queries
    the index with strong consistency.
    """

    class Meta:
        index_name = "occurred"
        projection = IncludeProjection(["home"])

    entity = UnicodeAttribute(hash_key=True)
    occurred_at = InstantAttribute(range_key=True)


class ActivityRow(Row):
    """The `activities` table. Each activity has one row keyed by its entity, and a pointer row
    keyed by the entity's parent.

    A row with `home` is a pointer to the entity with that key. A row without `home` and without
    `body` marks a retracted activity.
    """

    class Meta:
        table_name = ""

    entity = UnicodeAttribute(hash_key=True)
    activity_id = UnicodeAttribute(range_key=True)
    home = UnicodeAttribute(null=True)
    occurred_at = InstantAttribute(null=True)
    body = UnicodeAttribute(null=True)
    amended_at = InstantAttribute(null=True)
    retracted = BooleanAttribute(default=False)
    walked = UnicodeSetAttribute(null=True)
    expires_at = ExpiryAttribute()
    occurred_index = OccurredIndex()


class SuppressionRow(Row):
    """The `suppressions` table, with one row per suppressed address: its keyed hash and the reason.

    `address_hash` is identity.keyed_hash. `by` contains the user ids of readers who unsubscribed,
    whatever the reason. `left_at` is the time of the latest unsubscription, absent from rows of an
    earlier release. Erasure does not delete these rows.
    """

    class Meta:
        table_name = ""

    address_hash = UnicodeAttribute(hash_key=True)
    reason = UnicodeAttribute()
    since = InstantAttribute()
    by = UnicodeSetAttribute(null=True)
    left_at = InstantAttribute(null=True)


class BounceRow(Row):
    """The `bounces` table. `messages` contains a text `instant id` for each message that
    soft-bounced.

    `address_hash` is identity.keyed_hash.
    """

    class Meta:
        table_name = ""

    address_hash = UnicodeAttribute(hash_key=True)
    messages = UnicodeSetAttribute()
    expires_at = ExpiryAttribute()


class DueIndex(GlobalSecondaryIndex["ScheduleRow"]):
    """A sparse index of armed and leaving schedules. The key `due` has the format `slot#shard`.

    The index contains only keys, so a change within the same slot costs no write to the index.
    """

    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    due = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute(range_key=True)


class ScheduleRow(Row):
    """The `schedules` table, with one row per schedule.

    `sources` contains the names of the schedule's content sources, in order, separated by spaces.
    `sources` and the next three attributes are absent from schedules without content sources.
    """

    class Meta:
        table_name = ""

    user_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True)
    hour = WholeAttribute(most=23)
    minute = WholeAttribute(most=59)
    time_zone = UnicodeAttribute()
    days = UnicodeAttribute()
    paused_until = UnicodeAttribute(null=True)
    next_due_at = InstantAttribute()
    sequence = WholeAttribute(most=LAST_SEQUENCE)
    revision = WholeAttribute()
    changed_at = InstantAttribute()
    last_due_at = InstantAttribute(null=True)
    active_until = InstantAttribute(null=True)
    state = UnicodeAttribute()
    due = UnicodeAttribute(null=True)
    sources = UnicodeAttribute(null=True)
    fetched_at = InstantAttribute(null=True)
    fetched_for = InstantAttribute(null=True)
    shown = BinaryAttribute(null=True, legacy_encoding=False)
    due_index = DueIndex()


class StoredIndex(LocalSecondaryIndex["EventRow"]):
    """A local index for reading windows with strong consistency.

    Reading a window requires all attributes of a waiting event, so the index contains them.
    """

    class Meta:
        index_name = "stored"
        projection = AllProjection()

    user_id = UnicodeAttribute(hash_key=True)
    stored = UnicodeAttribute(range_key=True)


class EventRow(Row):
    """The `events` table. `stored` has the format `schedule#stored_at`, and `body` is a JSON
    string.

    A string is decoded three times as fast as a map of the same content. A row without `stored` and
    `body` marks a retracted event, whose schedule is in `was` and whose former `stored` is in
    `was_stored`. `why` is the reason for an exclusion. An event can be sent until `lasts_until`,
    and is stored until `expires_at`. Rows of an earlier release have only `expires_at`. `seen_at`
    is present if the event was left out because its reader had seen its entity, and `withdrawn_at`
    if it was left out because of a withdrawal. `others` has the other bodies of a happening, as a
    JSON list, and `revision` the number of their changes. A row with `part_of` is the pointer to
    the row of the activity with this id. `own_id` is the own id of the last body in the marker of
    a retraction. A row whose id begins with a line break is the mark of an entity that the reader
    has seen (`seen_at`), or the usage of the limit of immediate emails (`hour_free_at` and
    `day_free_at`). If the limit put an event into a digest, its `why` is `cap`.
    """

    class Meta:
        table_name = ""

    user_id = UnicodeAttribute(hash_key=True)
    event_id = UnicodeAttribute(range_key=True)
    stored = UnicodeAttribute(null=True)
    body = UnicodeAttribute(null=True)
    was = UnicodeAttribute(null=True)
    was_stored = UnicodeAttribute(null=True)
    retracted_at = InstantAttribute(null=True)
    why = UnicodeAttribute(null=True)
    seen_at = InstantAttribute(null=True)
    withdrawn_at = InstantAttribute(null=True)
    hour_free_at = InstantAttribute(null=True)
    day_free_at = InstantAttribute(null=True)
    others = UnicodeAttribute(null=True)
    revision = NumberAttribute(null=True)
    part_of = UnicodeAttribute(null=True)
    own_id = UnicodeAttribute(null=True)
    lasts_until = InstantAttribute(null=True)
    expires_at = ExpiryAttribute()
    stored_index = StoredIndex()


class OpenIndex(GlobalSecondaryIndex["RunRow"]):
    """A sparse index of open runs, which the sweep reads.

    `due_at` never changes, so only a change of `check_at` and the end of the run cost a write to
    the index.
    """

    class Meta:
        index_name = "open"
        projection = IncludeProjection(["due_at"])

    open = UnicodeAttribute(hash_key=True)
    check_at = InstantAttribute(range_key=True)


class BatchIndex(GlobalSecondaryIndex["RunRow"]):
    """An index of runs by slot.

    A pending run has no `state`, so a claim costs no write to the index.
    """

    class Meta:
        index_name = "batch"
        projection = IncludeProjection(["state"])

    batch = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute(range_key=True)


class RunRow(Row):
    """The `runs` table. The key `run` has the format `schedule#sequence`, padded so that keys sort
    by sequence.

    `batch` is `slot#partition`, and absent for immediate emails. `state` is `status reason`, by
    which the runs of a batch are counted; it is absent while the run is pending.
    """

    class Meta:
        table_name = ""

    user_id = UnicodeAttribute(hash_key=True)
    run = UnicodeAttribute(range_key=True)
    due_at = InstantAttribute()
    check_at = InstantAttribute()
    open = UnicodeAttribute(null=True)
    batch = UnicodeAttribute(null=True)
    state = UnicodeAttribute(null=True)
    status = UnicodeAttribute()
    reason = UnicodeAttribute()
    attempt = WholeAttribute()
    refusals = WholeAttribute()
    epoch = WholeAttribute()
    uncertain = NumberSetAttribute(null=True)
    resent = BooleanAttribute()
    overtaken = BooleanAttribute(null=True)
    retry_at = InstantAttribute(null=True)
    since = InstantAttribute(null=True)
    until = InstantAttribute(null=True)
    deadline = InstantAttribute(null=True)
    nonce = UnicodeAttribute(null=True)
    created_at = InstantAttribute(null=True)
    claimed_at = InstantAttribute(null=True)
    sent_at = InstantAttribute(null=True)
    message_id = UnicodeAttribute(null=True)
    detail = UnicodeAttribute(null=True)
    variation = WholeAttribute(least=1, null=True)
    experiment = UnicodeAttribute(null=True)
    locale = UnicodeAttribute(null=True)
    categories = UnicodeAttribute(null=True)
    newest = UnicodeAttribute(null=True)
    events = WholeAttribute(null=True)
    left_out = UnicodeAttribute(null=True)
    sources = UnicodeAttribute(null=True)
    asked_at = InstantAttribute(null=True)
    without = UnicodeAttribute(null=True)
    templates = WholeAttribute(null=True)
    templates_gone = WholeAttribute(null=True)
    head = WholeAttribute(null=True)
    head_sent_until = InstantAttribute(null=True)
    step = WholeAttribute(null=True)
    removed = UnicodeAttribute(null=True)
    expires_at = ExpiryAttribute()
    open_index = OpenIndex()
    batch_index = BatchIndex()


class ControlRow(Row):
    """The `control` table, which stores operational state. `kind` determines the meaning of `id`.

    - `batch`: `id` is the slot. Has `slot`, and the time at which the batch started (`started_at`)
      or was cancelled.
    - `checkpoint`: `id` is the shard. `slot` is the last slot that the shard has completed.
    - `behind`: `id` is shard and slot. `slot` is a slot with a row that could not be read.
    - `shards`: `id` is a number of shards. `since` is the first time with that many shards.
    - `evidence`: one row. `until` is the sending time of the latest email with a delivery event.
    - `experiment`: one row while an experiment runs, with `since`, `name` and `weights` (JSON).
    - `period`: `id` is the name of a current or past experiment. Has `since`, and `until` once the
      experiment has ended.
    - `hold`: `id` is the category. Has `since`, `why`, and `by_hand` if an operator set the hold.
    - `withdrawals`: one row once something was withdrawn. Has the list (`withdrawals`, JSON:
      [[kind, id, at, until], …]) and its `revision`.
    - `templates`: one row once a version was pushed. `version` (0 is the deployed version),
      `checksum` and `settings` (JSON) describe the version in force. The row has the same
      attributes for the candidate, and its `percent`; the `revision` of the row; and the time
      (`since`) and author (`by`) of the last change.
    - `template_version`: `id` is the number. Has `checksum`, `bytes`, `settings`, `since`, `by`,
      `why`, and the `release` of the code and the deployed `layer` at the time of the push.
    - `template_change`: `id` is the revision. Has the action (`what`), the resulting `version`,
      `candidate` and `percent`, and `since`, `by` and `why`.
    """

    class Meta:
        table_name = ""

    kind = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    slot = InstantAttribute(null=True)
    since = InstantAttribute(null=True)
    until = InstantAttribute(null=True)
    started_at = InstantAttribute(null=True)
    cancelled_at = InstantAttribute(null=True)
    name = UnicodeAttribute(null=True)
    weights = UnicodeAttribute(null=True)
    why = UnicodeAttribute(null=True)
    by_hand = BooleanAttribute(null=True)
    by = UnicodeAttribute(null=True)
    what = UnicodeAttribute(null=True)
    version = WholeAttribute(null=True)
    checksum = UnicodeAttribute(null=True)
    settings = UnicodeAttribute(null=True)
    bytes = WholeAttribute(null=True)
    candidate = WholeAttribute(null=True)
    candidate_checksum = UnicodeAttribute(null=True)
    candidate_settings = UnicodeAttribute(null=True)
    percent = WholeAttribute(most=100, null=True)
    release = UnicodeAttribute(null=True)
    layer = UnicodeAttribute(null=True)
    withdrawals = UnicodeAttribute(null=True)
    revision = WholeAttribute(null=True)
    expires_at = ExpiryAttribute(null=True)


class CategoryStatsRow(Row):
    """The `category_stats` table, with one row per category and hour in which emails were sent."""

    class Meta:
        table_name = ""

    category = UnicodeAttribute(hash_key=True)
    hour = InstantAttribute(range_key=True)
    sent = WholeAttribute(null=True)
    bounced = WholeAttribute(null=True)
    complained = WholeAttribute(null=True)
    expires_at = ExpiryAttribute()


class EngagementRow(Row):
    """The `engagement` table, with one row per run for which a delivery event arrived.

    `slot` is `slot#partition`, as in the runs' `batch` index, but is also present for immediate
    emails. `run` is the run id. Attributes that end in `_at` are the time of the first event of
    each kind.
    """

    class Meta:
        table_name = ""

    slot = UnicodeAttribute(hash_key=True)
    run = UnicodeAttribute(range_key=True)
    due_in = InstantAttribute()
    sent_at = InstantAttribute(null=True)
    delivered_at = InstantAttribute(null=True)
    delayed_at = InstantAttribute(null=True)
    bounced_at = InstantAttribute(null=True)
    complained_at = InstantAttribute(null=True)
    rejected_at = InstantAttribute(null=True)
    opened_at = InstantAttribute(null=True)
    clicked_at = InstantAttribute(null=True)
    unsubscribed_at = InstantAttribute(null=True)
    locale = UnicodeAttribute(null=True)
    categories = UnicodeAttribute(null=True)
    variation = WholeAttribute(least=1, null=True)
    experiment = UnicodeAttribute(null=True)
    templates = WholeAttribute(null=True)
    expires_at = ExpiryAttribute()


class PaceRow(Row):
    """The `pace` table, with one row per stream.

    `next_at`, `set_back_at`, `stretch_at`, `quota_at` and `used_up_at` are microseconds since 1970,
    so that DynamoDB can add to them. `day` is a date in UTC. `quota` is in emails per second.
    `daily` and `left` are the account's 24-hour quota and the remainder, absent if there is no
    limit. `used_up_at` is the last time at which the remainder or a day's cap was exhausted, if
    ever. `set_back_at` is the last time at which a `next_at` that was too far ahead was set back,
    if ever. Attributes that begin with `breaker` are absent while the circuit breaker is closed;
    its `since`, `until` and `step` are in microseconds too.
    """

    class Meta:
        table_name = ""

    name = UnicodeAttribute(hash_key=True)
    quota = NumberAttribute(null=True)
    quota_at = WholeAttribute(most=_MICROSECONDS, null=True)
    used_up_at = WholeAttribute(most=_MICROSECONDS, null=True)
    daily = WholeAttribute(null=True)
    left = WholeAttribute(null=True)
    next_at = WholeAttribute(most=_MICROSECONDS, null=True)
    set_back_at = WholeAttribute(most=_MICROSECONDS, null=True)
    stretch_at = WholeAttribute(most=_MICROSECONDS, null=True)
    stretch_taken = WholeAttribute(null=True)
    last_taken = WholeAttribute(null=True)
    day = UnicodeAttribute(null=True)
    taken = WholeAttribute(null=True)
    breaker_why = UnicodeAttribute(null=True)
    breaker_since = WholeAttribute(most=_MICROSECONDS, null=True)
    breaker_until = WholeAttribute(most=_MICROSECONDS, null=True)
    breaker_step = WholeAttribute(most=_MICROSECONDS, null=True)
    breaker_by_hand = BooleanAttribute(null=True)
    breaker_is_probed = BooleanAttribute(null=True)
