"""Archives on a cluster of real processes, with storage of objects on loopback."""

import io
import math
import os
import signal
import threading
import time

import boto3
import numpy as np
import pytest
import tessera
from conftest import PHOTO
from distributed import Client, LocalCluster
from moto.server import ThreadedMotoServer
from PIL import Image
from tessera import cluster
from tessera.cluster._storage import Folder, output_names
from test_dictionary import other_dictionary


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        with Client(local) as client:
            yield client


@pytest.fixture(scope="module")
def s3():
    """Options of fsspec and a client for a server of our own."""
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    endpoint = f"http://127.0.0.1:{port}"
    storage = {"key": "test", "secret": "test", "client_kwargs": {"endpoint_url": endpoint, "region_name": "us-east-1"}}
    direct = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **keys)
    yield storage, direct
    server.stop()


def png(array):
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    return file.getvalue()


def photos(count, side=96):
    """Different parts of a photograph as files, by name."""
    photo = np.tile(np.asarray(Image.open(PHOTO).convert("RGB")), (2, 2, 1))
    rng = np.random.default_rng(9)
    named = {}
    for i in range(count):
        x, y = rng.integers(0, photo.shape[1] - side), rng.integers(0, photo.shape[0] - side)
        named[f"{i % 3}/{i:03}.png"] = png(photo[y : y + side, x : x + side])
    return named


def expected(files, **settings):
    """What one machine makes of these files."""
    encode = tessera._native.Encoder(threads=1, **settings).encode_file
    return {name[:-4] + ".tsr": encode(data)[0] for name, data in files.items()}


def put(direct, bucket, files):
    direct.create_bucket(Bucket=bucket)
    for name, data in files.items():
        direct.put_object(Bucket=bucket, Key=name, Body=data)


def fill(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_is_encoded_as_by_one_machine_and_work_is_not_done_twice(client, tmp_path):
    files = photos(14)
    fill(tmp_path / "in", files)
    heard = []
    report = cluster.encode_archive(
        tmp_path / "in", tmp_path / "out", client, effort=2, progress=lambda *at: heard.append(at)
    )
    assert (report.encoded, report.skipped, report.failures) == (14, 0, [])
    assert heard[-1] == (14, 14) and report.bytes_before == sum(map(len, files.values()))
    assert tree(tmp_path / "out") == expected(files, effort=2)
    again = cluster.encode_archive(tmp_path / "in", tmp_path / "out", client, effort=2)
    assert (again.encoded, again.skipped) == (0, 14)
    (tmp_path / "out/1/001.tsr").unlink()
    (tmp_path / "in/2/002.png").write_bytes(files["0/000.png"])
    os.utime(tmp_path / "in/2/002.png", (time.time() + 5, time.time() + 5))
    third = cluster.encode_archive(tmp_path / "in", tmp_path / "out", client, effort=2)
    assert (third.encoded, third.skipped) == (2, 12)
    assert (tmp_path / "out/2/002.tsr").read_bytes() == (tmp_path / "out/0/000.tsr").read_bytes()
    assert cluster.encode_archive(tmp_path / "in", tmp_path / "out", client, effort=2, force=True).encoded == 14


def test_what_fails_is_listed_and_the_rest_is_done(client, tmp_path):
    files = photos(3)
    files["broken.png"] = b"no picture"
    files["empty.jpg"] = b""
    files["notes.txt"] = b"not asked for"
    fill(tmp_path / "in", files)
    report = cluster.encode_archive(tmp_path / "in", tmp_path / "out", client, effort=1)
    assert report.encoded == 3 and [name for name, _ in report.failures] == ["broken.png", "empty.jpg"]
    assert all(reason for _, reason in report.failures)
    assert "broken.png" in str(report) and '"encoded": 3' in report.to_json()
    assert len(tree(tmp_path / "out")) == 3


def test_nonsense_is_refused_before_anything_is_done(client, tmp_path):
    fill(tmp_path / "in", photos(1))
    with pytest.raises(tessera.ParameterError):
        cluster.encode_archive(tmp_path / "in", tmp_path / "out", client, quality=300)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        cluster.encode_archive(tmp_path / "nowhere", tmp_path / "out", client)
    assert not (tmp_path / "out").exists()


def test_objects_and_a_learned_dictionary(client, s3):
    storage, direct = s3
    files, own = photos(5), other_dictionary()
    put(direct, "learned", {f"in/{name}": data for name, data in files.items()})
    report = cluster.encode_archive(
        "s3://learned/in", "s3://learned/out", client, effort=1, dictionary=own, storage_options=storage
    )
    assert report.encoded == 5
    made = {name: data for name, data in read_all(direct, "learned", "out/").items() if name.endswith(".tsr")}
    assert made == expected(files, effort=1, dictionary=own)
    published = direct.get_object(Bucket="learned", Key=f"out/.tessera/{own.id}.tsd")["Body"].read()
    assert tessera.Dictionary.from_bytes(published) == own


def read_all(direct, bucket, prefix):
    listed = direct.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
    return {
        entry["Key"][len(prefix) :]: direct.get_object(Bucket=bucket, Key=entry["Key"])["Body"].read()
        for entry in listed
    }


def test_a_worker_that_is_killed_loses_nothing_and_nothing_is_written_twice(client, s3):
    storage, direct = s3
    files = photos(60)
    put(direct, "killed", {f"in/{name}": data for name, data in files.items()})
    direct.put_bucket_versioning(Bucket="killed", VersioningConfiguration={"Status": "Enabled"})
    victim = next(iter(client.run(os.getpid).values()))
    killed = threading.Event()

    def kill_in_the_middle(done, total):
        if done >= total // 3 and not killed.is_set():
            killed.set()
            os.kill(victim, signal.SIGKILL)

    report = cluster.encode_archive(
        "s3://killed/in",
        "s3://killed/out",
        client,
        effort=4,
        shard_size=3,
        storage_options=storage,
        progress=kill_in_the_middle,
    )
    assert killed.is_set() and (report.encoded, report.failures) == (60, [])
    assert read_all(direct, "killed", "out/") == expected(files, effort=4)
    versions = direct.list_object_versions(Bucket="killed", Prefix="out/")["Versions"]
    assert len(versions) == 60, "each was written once"
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()


def test_a_dictionary_is_the_same_whoever_learns_it(client, collection, trained_here, s3):
    storage, direct = s3
    here, _ = trained_here
    there = cluster.train(collection, client, references=False, expected=math.inf)
    assert here.change < -0.05, "something was learned"
    assert there.dictionary == here.dictionary and there.change == here.change
    put(direct, "alike", {path.name: path.read_bytes() for path in collection.iterdir()})
    workers = list(client.scheduler_info()["workers"])
    client.run(_be_slow, workers=workers[:1])
    alone = cluster.train("s3://alike", client, references=False, expected=math.inf, storage_options=storage)
    assert alone.dictionary == here.dictionary


def _be_slow():
    """Everything this worker does comes late from now on."""
    os.nice(19)


def test_points_of_a_curve_do_not_depend_on_workers(client, tmp_path):
    files = photos(4, side=64)
    files["broken.png"] = b"no picture"
    fill(tmp_path / "in", files)
    settings = {"codecs": ["tessera", "jpeg"], "qualities": {"tessera": [25, 50, 75, 90], "jpeg": [30, 60, 80, 95]}}
    measured = cluster.rd(tmp_path / "in", client, **settings)
    assert len(measured.points) == 4 * 8 and [name for name, _ in measured.failures] == ["broken.png"]
    assert [point["image"] for point in measured.points[::8]] == sorted(files)[:4]
    first = measured.points[0]
    original = np.asarray(Image.open(tmp_path / "in" / first["image"]))
    file = tessera.encode(original, quality=int(first["quality"]))
    assert len(file) == first["bytes"]
    assert tessera.compare(original, tessera.decode(file))["psnr-yuv"] == pytest.approx(first["metrics"]["psnr-yuv"], abs=1e-5)
    rates = measured.bd_rates("psnr-yuv")
    assert set(rates) == {"tessera"} and rates["tessera"] < 0
    measured.to_csv(tmp_path / "points.csv")
    assert len((tmp_path / "points.csv").read_text().splitlines()) == 33
    with pytest.raises(FileExistsError):
        measured.to_csv(tmp_path / "points.csv")


def test_names_of_outputs_are_those_of_the_command():
    names = ["a.JPG", "b.png", "b.webp", "sub/b.png", "a.png.bmp", "c.png", "c.png.bmp", "c.jpg"]
    assert output_names(names) == {
        "a.JPG": "a.tsr",
        "b.png": "b.png.tsr",
        "b.webp": "b.webp.tsr",
        "sub/b.png": "sub/b.tsr",
        "a.png.bmp": "a.png.tsr",
        "c.png": "c.png.tsr",
        "c.png.bmp": "c.png.bmp.tsr",
        "c.jpg": "c.jpg.tsr",
    }


def test_storage_that_stumbles_is_tried_again(tmp_path, monkeypatch):
    folder = Folder(tmp_path)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    attempts = []

    def stumble(path, data):
        attempts.append(path)
        if len(attempts) < 3:
            raise OSError("connection reset")

    monkeypatch.setattr(folder, "_write", stumble)
    folder.write("x", b"", retries=2)
    assert len(attempts) == 3
    with pytest.raises(FileNotFoundError):
        folder.read("nothing here", retries=9)
