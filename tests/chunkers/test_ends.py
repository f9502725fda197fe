"""The measurement of ends and the recorder, with a model that needs no weights."""

import json
import re
from pathlib import Path

from wishes import Wishes

from benchmarks import ends
from s2b_lab.core.headings import document
from s2b_lab.models import recorded_ends


class Named(Wishes):
    prompt = "Continue the text."


def test_the_measurement_has_areas_and_one_pass_beside_one_a_prefix():
    doc = document("d", "\n\n".join("One two three. Four five. Six seven eight nine." for _ in range(9)))
    knows = Named(by=lambda prefix: prefix.endswith("nine."))
    result = ends.run(knows, {"ours": [doc]}, theta=20)
    assert result["areas"]["ours"]["prose"] == {"area": 1.0, "paragraph_ends": 8, "other_ends": 18}
    assert result["areas"]["ours"]["all"] == result["areas"]["ours"]["prose"] and result["theta"] == 20
    assert result["one_pass"]["blocks"] == 3 and result["one_pass"]["prefixes"] > 3
    assert result["one_pass"]["largest_difference"] == 0.0
    json.dumps(result)

    class Leaks(Named):
        """What stands behind a place changes what it says of it."""

        def end_probabilities(self, text, places):
            return [place / len(text) for place in places]

    assert ends.one_pass(Leaks(), doc, 20)["largest_difference"] > 0.1


def test_a_recording_serves_every_block_of_the_sizes_it_was_made_at_and_asks_for_little(tmp_path, monkeypatch):
    model = Named()
    (tmp_path / "a.json").write_text(ends.record(model, "travel-en", (80, 40)), encoding="utf-8")
    monkeypatch.setattr(recorded_ends, "_FOLDER", tmp_path)
    (held,) = recorded_ends.shipped_ends.__wrapped__()
    assert ends.replayed("travel-en", held, (40, 80)) and not ends.replayed("travel-en", held, (200,))
    once = Named()
    ends.record(once, "travel-en", (80,))
    ends.record(once, "travel-en", (40,))
    assert model.passes < once.passes, "what is known of a large block must serve a small one"


RESULT = Path(ends.RESULTS) / "ends.json"


def test_the_kept_result_is_of_our_texts_and_one_pass_is_as_good_as_many():
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    assert set(result["areas"]) == {*ends.TEXTS, "python_docs"} and result["seed"] == ends.SEED
    found = [area for kinds in result["areas"].values() for area in kinds.values()]
    assert all(0 < area["area"] < 1 and area["paragraph_ends"] > 60 for area in found)
    assert result["one_pass"]["largest_difference"] < 1e-4 and re.match(r"\d", result["versions"]["torch"])
