"""How the tests are run: with few made-up cases each, so that all of them together stay quick."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick",
    max_examples=25,
    deadline=None,
    # Files are written in a folder per case; what hypothesis warns of does not happen here.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("long", parent=settings.get_profile("quick"), max_examples=500)
settings.load_profile("quick")
