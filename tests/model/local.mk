# tests/model: a model of the proof, for spin.
EXTRA_DIST += \
	tests/model/README.md \
	tests/model/lease.pml \
	tests/model/run \
	tests/model/token.pml \
	tests/model/voters.pml
