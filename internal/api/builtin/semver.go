package builtin

import (
	"slices"
	"strings"
)

// isSemanticVersion reports whether a string is a version MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD] as defined by semver.org.
func isSemanticVersion(s string) bool {
	s, build, hasBuild := strings.Cut(s, "+")
	s, before, hasBefore := strings.Cut(s, "-")
	numbers := strings.Split(s, ".")
	return len(numbers) == 3 && allParts(numbers, isPlainNumber) &&
		(!hasBefore || allParts(strings.Split(before, "."), isPrerelease)) &&
		(!hasBuild || allParts(strings.Split(build, "."), isVersionPart))
}

func semanticVersionProblems(string) []string {
	return []string{"must be a string compatible with semver.org spec 2.0.0"}
}

func allParts(parts []string, valid func(string) bool) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !valid(part) })
}

// isPlainNumber reports whether a string is a number without leading zeros.
func isPlainNumber(s string) bool {
	return s != "" && allBytes(s, isDigit) && (s[0] != '0' || len(s) == 1)
}

func isVersionPart(s string) bool {
	return s != "" && allBytes(s, func(b byte) bool { return isAlnum(b) || b == '-' })
}

// isPrerelease reports whether a string is a valid part of a prerelease version: numbers must not have leading zeros.
func isPrerelease(s string) bool {
	return isVersionPart(s) && (!allBytes(s, isDigit) || isPlainNumber(s))
}
