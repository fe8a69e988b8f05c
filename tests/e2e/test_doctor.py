"""aurabench doctor: each check as the gate would judge it, with its mend; status 6 while one is missing."""

import calibrations
import harness


def checks(daemon, *words, check=6):
    answer = daemon.json("doctor", *words, check=check)
    return answer, {line["name"]: line for line in answer["checks"]}


def test_a_good_host_lacks_a_calibration(daemon):
    answer, lines = checks(daemon)
    assert answer["policy"] == "standard" and answer["contractual_possible"] is False
    assert [n for n, line in lines.items() if line["needed"] and line["mend"]] == ["calibration"]
    assert lines["inventory"]["status"] == "PASS" and lines["daemon"]["status"] == "PASS"
    assert lines["disk"]["status"] == "PASS" and "GiB free at" in lines["disk"]["seen"]


def test_noise_is_named_with_its_mend(daemon, fake_host):
    fake_host.burner(4242, command="stress-ng")
    _, lines = checks(daemon)
    assert lines["inventory"]["status"] == "FAIL"
    assert "stress-ng (pid 4242)" in lines["inventory"]["seen"]
    assert "aurabench quiet" in lines["inventory"]["mend"]


def test_a_condition_that_fails_says_how_to_mend_it(daemon, fake_host):
    fake_host.write("facts", "mains known 0\n")
    _, lines = checks(daemon)
    assert lines["mains"]["status"] == "FAIL" and lines["mains"]["mend"].startswith("plug")


def test_the_policy_decides_what_is_needed(daemon, fake_host):
    fake_host.write("facts", "mains known 0\n")
    answer, lines = checks(daemon, "--policy", "virtual")
    assert answer["policy"] == "virtual"
    assert lines["mains"]["needed"] is False and lines["mains"]["mend"] is None
    assert lines["calibration"]["needed"] is True and lines["calibration"]["mend"]


def test_a_person_reads_one_line_a_check_and_one_a_mend(daemon, fake_host):
    calibrations.put(daemon)
    fake_host.write("facts", "mains known 0\n")
    text = daemon.run("doctor", check=6).stdout
    assert "FAIL  mains power" in text
    assert "keeps reports diagnostic:" in text and "  mains power: plug the machine in" in text


def test_an_unknown_policy_is_refused(daemon):
    daemon.run("doctor", "--policy", "lax", check=4)
