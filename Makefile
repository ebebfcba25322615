.PHONY: build test demo demo-server lint setup asan tsan app consumers generated examples differential bench bench-quick \
	bench-functions limits growth docs fuzz apple-check ci-budget faults simulate soak attack proofs clean \
	install uninstall dist new-app

# Where build products go; CI and developers may point it elsewhere.
SCRATCH ?= .build
export SCRATCH
# Where the tool is installed; DESTDIR is put in front.
PREFIX ?= /usr/local
DESTDIR ?=

build: setup ## the tool `outpost` and the mobile server, in release mode, at bin
	scripts/build.sh

install: ## what make build has built, with manual pages and completions: make install PREFIX=/usr/local DESTDIR=
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install.sh

uninstall: ## removes what make install has written at the same PREFIX and DESTDIR
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install.sh --uninstall

dist: build ## an archive of the tool for Linux, with checksums and the Debian packages that it needs, into bin/dist
	scripts/dist.sh

test: setup ## every test
	scripts/test.sh

demo: setup ## the whole story on the terminal
	scripts/demo.sh

demo-server: setup ## the story of the mobile server on the terminal
	scripts/demo-server.sh

lint:
	swift format lint --strict --recursive Package.swift Sources Tests Consumers Benchmarks/Package.swift \
		Benchmarks/Sources Benchmarks/Benchmarks Fuzz
	scripts/prose.py

setup:
	@scripts/setup.sh

asan: ## tests under the address sanitizer
	scripts/sanitize.sh address $(FILTER)

tsan: ## tests under the thread sanitizer
	scripts/sanitize.sh thread $(FILTER)

app: setup ## the smallest app: resolves and links nothing of server and tools
	scripts/app.sh

consumers: setup ## each library product used from a package of its own
	scripts/consumers.sh

generated: setup ## code generated from every document of the corpus, checked by the compiler
	scripts/generated.sh --all

new-app: setup ## an app of `outpost new`, built and tested by SwiftPM
	scripts/test.sh --build-only
	scripts/new-app.py --full

examples: setup ## the example apps, with the plugin that generates their types
	scripts/examples.sh

bench: ## the figures of the design, into BENCHMARKS.md
	scripts/bench.sh

bench-quick: ## the same at a tenth of the size, on the terminal alone
	scripts/bench.sh --quick

bench-functions: ## the hot paths, sampled
	swift package --package-path Benchmarks --scratch-path $(SCRATCH)/bench --allow-writing-to-package-directory benchmark

limits: ## instructions and allocations of the hot paths against Benchmarks/limits.json
	scripts/setup.sh limits
	scripts/limits.py

growth: ## how time and memory grow with the rows, into the plot of the documentation
	scripts/growth.sh

docs: setup ## the documentation of all libraries, or of one: make docs TARGET=OfflineOData
	scripts/docs.sh $(TARGET)

fuzz: setup ## a parser under libFuzzer, or all in turn: make fuzz TARGET=json SECONDS=60
	scripts/fuzz.sh $(or $(TARGET),smoke) $(SECONDS)

apple-check: setup ## the branches for Apple's platforms, type-checked on Linux against stubs
	scripts/apple-check.sh

ci-budget: ## all that continuous integration does, and a failure where a step is 30 % over its budget
	.ci/run --strict

faults: setup ## power and wire fail at every operation of a database, every operation and message of a synchronisation
	OUTPOST_FAULTS=all scripts/test.sh --filter 'StoreFaultTests|SyncFaultTests'

simulate: setup ## a service and its clients, everything failing: make simulate SEEDS=10000 FIRST_SEED=0
	SEEDS=$(or $(SEEDS),10000) FIRST_SEED=$(or $(FIRST_SEED),0) scripts/simulate.sh

soak: setup ## a store at work for an hour, and nothing grows: make soak MINUTES=60
	scripts/release.sh --product Soak
	"$$(scripts/release.sh --show-bin-path)/Soak" $$(( $(or $(MINUTES),60) * 60 ))

proofs: setup ## the proofs that are too long for continuous integration: make proofs PROOF=faults, or all of them
	SCRATCH=$(SCRATCH) scripts/proofs.sh $(PROOF)

attack: ## the attacks on a built tool that the threat model names
	SCRATCH=$(SCRATCH) scripts/attack.sh

differential: setup ## 100,000 random queries: SQL against the evaluator; 1,000 for each foreign database: it against its clone
	scripts/setup.sh pypi
	OUTPOST_DIFFERENTIAL=$${OUTPOST_DIFFERENTIAL:-100000} \
		OUTPOST_FOREIGN_DIFFERENTIAL=$${OUTPOST_FOREIGN_DIFFERENTIAL:-1000} scripts/test.sh --filter DifferentialTests

clean:
	rm -rf $(SCRATCH) $(SCRATCH)-asan $(SCRATCH)-tsan bin
