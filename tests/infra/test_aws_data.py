"""botocore works the same with the data that ships as with all of it."""

import gzip
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import botocore
import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.session import Session

from gazette_cdk.assets.aws_data import SERVICES, shrink

_WHOLE = Path(botocore.__file__).parent / "data"
_REGIONS = ("us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1", "ap-southeast-7")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = copied(tmp_path_factory.mktemp("botocore") / "data")
    shrink(data)
    return data


def copied(data: Path) -> Path:
    """botocore's data, with one service that no function calls."""
    others = {each.name for each in _WHOLE.iterdir() if each.is_dir()} - SERVICES - {"ec2"}
    shutil.copytree(_WHOLE, data, ignore=lambda folder, _: others if folder == str(_WHOLE) else [])
    return data


def session(data: Path) -> Session:
    made = Session()
    loader = Loader(extra_search_paths=[str(data)], include_default_search_paths=False)
    made.register_component("data_loader", loader)
    made.set_credentials("none", "none")
    return made


def shapes(data: Path, service: str) -> Mapping[str, Any]:
    loader = Loader(extra_search_paths=[str(data)], include_default_search_paths=False)
    model = ServiceModel(loader.load_service_model(service, "service-2"))
    return {
        name: (
            operation.http,
            operation.input_shape and operation.input_shape.members,
            operation.output_shape and operation.output_shape.members,
            [shape.name for shape in operation.error_shapes],
        )
        for name in model.operation_names
        for operation in [model.operation_model(name)]
    }


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_reduced_service_model_has_the_same_operations(shipped: Path, service: str) -> None:
    assert str(shapes(shipped, service)) == str(shapes(_WHOLE, service))


@pytest.mark.parametrize("service", sorted(SERVICES))
@pytest.mark.parametrize("region", _REGIONS)
def test_reduced_service_model_has_the_same_endpoint_and_signing(
    shipped: Path, service: str, region: str
) -> None:
    def said(data: Path) -> tuple[str, str, str]:
        client = session(data).create_client(service, region_name=region)
        signer = client._request_signer  # type: ignore[attr-defined]
        return client.meta.endpoint_url, signer.signing_name, signer.region_name

    assert said(shipped) == said(_WHOLE)


def test_only_used_services_are_shipped_without_documentation(shipped: Path) -> None:
    assert {each.name for each in shipped.iterdir() if each.is_dir()} == SERVICES
    for model in shipped.glob("*/*/service-2.json.gz"):
        texts = gzip.decompress(model.read_bytes()).replace(b'"documentation":""', b"")
        assert b'"documentation":"' not in texts, model
    whole = (_WHOLE / "endpoints.json").stat().st_size
    assert (shipped / "endpoints.json").stat().st_size < whole / 10
    regions = [
        [*partition["regions"]]
        for partition in json.loads((shipped / "endpoints.json").read_bytes())["partitions"]
    ]
    assert regions == [
        [*partition["regions"]]
        for partition in json.loads((_WHOLE / "endpoints.json").read_bytes())["partitions"]
    ]


def test_reducing_hard_linked_files_leaves_the_originals_unchanged(tmp_path: Path) -> None:
    """uv links the files of its cache into each environment."""
    data, linked = copied(tmp_path / "data"), tmp_path / "linked"
    shutil.copytree(data, linked, copy_function=os.link)
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    shrink(linked)
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_client_context_parameters_work_with_the_reduced_model(shipped: Path, service: str) -> None:
    """botocore reads those of S3 with each request, and their texts with them."""
    loader = Loader(extra_search_paths=[str(shipped)], include_default_search_paths=False)
    found = ServiceModel(loader.load_service_model(service, "service-2")).client_context_parameters
    whole = Loader(extra_search_paths=[str(_WHOLE)], include_default_search_paths=False)
    all_of_it = ServiceModel(whole.load_service_model(service, "service-2"))
    assert [each.name for each in found] == [
        each.name for each in all_of_it.client_context_parameters
    ]
