#!/usr/bin/env bash
# Prints the CPU time that compiles the apply configurations of the built-in kinds, and the size of a program that builds
# and extracts a Deployment, with package applyconfig and with client-go. It uses a build cache of its own.
set -euo pipefail
cd "$(dirname "$0")"
GOCACHE=$(mktemp -d)
export GOCACHE TIMEFORMAT='%U + %S s of CPU, %R s'
trap 'rm -rf "$GOCACHE"' EXIT
ours=$(go list -deps ./measure/ours | grep cadastre/apply)
clientgo=$(go list -deps ./measure/clientgo | grep k8s.io/client-go/applyconfigurations)
# shellcheck disable=SC2046 # word splitting is intended
go build $(go list -deps ./measure/ours ./measure/clientgo | grep -v -e cadastre/ -e client-go/applyconfigurations)
# shellcheck disable=SC2086
{
	printf 'packages of a Deployment, applyconfig: '; time go build $ours
	printf 'packages of a Deployment, client-go:   '; time go build $clientgo
	printf 'all packages, applyconfig: '; time go build github.com/cadastre/cadastre/applyconfig/...
	printf 'all packages, client-go:   '; time go build k8s.io/client-go/applyconfigurations/...
}
for program in ours clientgo; do
	go build -trimpath -ldflags='-s -w' -o "$GOCACHE/$program" "./measure/$program"
	printf '%s: %d bytes; 50 runs: ' "$program" "$(wc -c < "$GOCACHE/$program")"
	time for _ in {1..50}; do "$GOCACHE/$program" > /dev/null; done
done
