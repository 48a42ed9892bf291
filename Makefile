# SPDX-License-Identifier: Apache-2.0
# Each target first installs the Debian packages that it needs and that are missing.

SECONDS = 3600
REPEAT = 10
SOURCES = $(shell find include src tests bench examples -name '*.hpp' -o -name '*.cpp')

# $(call build,preset,options,targets) configures and builds.
build = cmake --preset $(1) $(2) >/dev/null && cmake --build --preset $(1) $(3)

.PHONY: help run test python test-torch test-asan test-tsan test-stress test-storm fuzz check-soundness check-without-hosts bench bench-quick bench-further bench-noise bench-hosts bench-kernels bench-compile bench-check bench-pto bench-wait bench-worker bench-python bench-death format style clang lint lint-changed clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.* ## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

run: ## build Peal, run the collectives on four ranks and refute a broken one
	@tools/install-packages core
	@test -x build/peal || echo 'Building Peal. The first time takes some minutes; [done/all] counts the steps.'
	@$(call build,release,-DPEAL_TESTS=OFF,--target peal_cli)
	@./build/peal demo

test: ## check the style, build and run all tests
	@tools/install-packages core hosts tests python
	@$(MAKE) --no-print-directory style
	@$(call build,release,-DPEAL_TESTS=ON)
	@ctest --preset release

python: ## build the Python package; PYTHONPATH=build/python uses it
	@tools/install-packages core python
	@$(call build,release,,--target peal_python peal_cli)

test-torch: ## run a communicator and the tests of other projects' Python on tensors of torch, which is large
	@tools/install-packages core python torch
	@$(call build,release,,--target peal_python peal_cli)
	@cd tests/python && PYTHONPATH=$(CURDIR)/build/python:$(CURDIR)/build/python/compat PEAL_PROOFS=off \
	    /usr/bin/python3 -B -m pytest -q -p no:cacheprovider torch_*.py compat/*/torch_*.py

test-asan: ## run all tests with the address and undefined behaviour sanitizers
	@tools/install-packages core hosts tests
	@$(call build,asan)
	@ctest --preset asan

test-tsan: ## run all tests with the thread sanitizer
	@tools/install-packages core hosts tests
	@$(call build,tsan)
	@ctest --preset tsan

test-stress: ## run the tests with processes and threads on busy cores, each REPEAT times, ten unless said
	@tools/install-packages core hosts tests python
	@$(call build,release,-DPEAL_TESTS=ON,--target concurrent_tests)
	@tools/on-busy-cores ctest --preset release -L concurrent -j 4 --repeat until-fail:$(REPEAT)

fuzz: ## give the language, plans and profiles made-up input for SECONDS each, an hour unless said
	@tools/install-packages core tests
	@$(call build,fuzz,,--target fuzz_language fuzz_plans fuzz_foreign fuzz_profile)
	@tools/fuzz build/fuzz $(SECONDS)

test-storm: ## let ranks be killed, stopped and at odds for SECONDS, an hour unless said; SEED: that trial first
	@tools/install-packages core tests
	@$(call build,release,-DPEAL_TESTS=ON,--target storm)
	@./build/storm $(SECONDS) $(SEED)

check-soundness: ## compare the checker with a naive one on new random programs for SECONDS, an hour unless said
	@tools/install-packages core tests
	@$(call build,release,-DPEAL_TESTS=ON,--target soundness)
	@./build/soundness $(SECONDS) $(SEED)

check-without-hosts: ## build the command where nothing for jobs on several hosts is installed, and run it
	@tools/install-packages core
	@$(call build,without-hosts,,--target peal_cli)
	@./build/without-hosts/peal demo
	@! ./build/without-hosts/peal launch -n 1 --hosts localhost true

bench: ## measure Peal against Open MPI, MPICH and Gloo, and write docs/benchmarks.md
	@tools/install-packages core bench peers
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_compare)
	@./build/bench/compare --docs docs --csv build/benchmarks.csv
	@./build/bench/compare --further --budget 400 --docs docs --csv build/further.csv
	@./build/bench/compare --sweep --budget 240 --docs docs --csv build/sweep.csv

bench-quick: ## the same in about two minutes, shown and not written
	@tools/install-packages core bench peers
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_compare)
	@./build/bench/compare --quick

bench-further: ## the same for scans, counts that differ and messages, in about two minutes
	@tools/install-packages core bench peers
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_compare)
	@./build/bench/compare --further --quick

bench-noise: ## the same beside one and two busy processes, and write docs/benchmarks.md
	@tools/install-packages core bench peers
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_compare)
	@./build/bench/compare --noise 0,1,2 --budget 600 --docs docs --csv build/noise.csv

bench-hosts: ## the same between two hosts, which are namespaces of this one, and write docs/benchmarks.md
	@tools/install-packages core hosts bench peers
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_compare)
	@tools/with-hosts a b -- ./build/bench/compare --hosts a,b --budget 600 --docs docs --csv build/hosts.csv

bench-kernels: ## measure the copy and reduce kernels
	@tools/install-packages core bench
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_kernels)
	@./build/bench/bench_kernels

bench-compile: ## measure the first call of a new shape
	@tools/install-packages core
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_compile)
	@./build/bench/bench_compile

bench-check: ## measure the checker against its limits
	@tools/install-packages core
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_check)
	@./build/bench/bench_check

bench-pto: ## measure PTO kernels in processes against their bounds
	@tools/install-packages core
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_pto)
	@./build/bench/bench_pto

bench-wait: ## measure what a waiting rank takes of its core, against its limit, and a look for other threads
	@tools/install-packages core
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_wait)
	@./build/bench/bench_wait

bench-worker: ## measure what a worker adds to its tasks, against its limits
	@tools/install-packages core
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_worker)
	@./build/bench/bench_worker

bench-python: ## measure a call from Python against the C++ call and mpi4py, and a driver, with their limits
	@tools/install-packages core python peers torch
	@$(call build,release,-DPEAL_TESTS=OFF,--target peal_python peal_cli)
	@PYTHONPATH=build/python /usr/bin/python3 bench/python_bench.py build/peal

bench-death: ## measure how long after a rank's death the others have their error
	@tools/install-packages core
	@$(call build,release,-DPEAL_TESTS=OFF,--target bench_death)
	@./build/bench/bench_death

format: ## format all sources
	@tools/install-packages tests
	@clang-format -i $(SOURCES)

style: ## check that all sources are formatted
	@tools/install-packages tests
	@clang-format --dry-run --Werror $(SOURCES)

clang: ## check that clang builds Peal without a warning
	@tools/install-packages core hosts tests
	@$(call build,clang)

lint: ## run clang-tidy on the library and the command
	@tools/install-packages core hosts tests lint
	@cmake --preset clang >/dev/null
	@run-clang-tidy -quiet -p build/clang 'src/.*\.cpp$$'

lint-changed: ## run clang-tidy on what differs from the main branch, or from the last commit but one
	@tools/install-packages core hosts tests lint
	@cmake --preset clang >/dev/null
	@tools/lint-changed build/clang

clean: ## remove everything that was built
	@rm -rf build
