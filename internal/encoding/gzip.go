package encoding

import (
	"strconv"
	"strings"
)

// AcceptsGzip reports whether an Accept-Encoding header allows gzip. A clause for gzip takes precedence over a clause for *.
func AcceptsGzip(header string) bool {
	starAllowed := false
	for clause := range strings.SplitSeq(header, ",") {
		coding, parameters, _ := strings.Cut(clause, ";")
		switch coding = strings.TrimSpace(coding); {
		case strings.EqualFold(coding, "gzip"):
			return hasWeight(parameters)
		case coding == "*":
			starAllowed = hasWeight(parameters)
		}
	}
	return starAllowed
}

// hasWeight reports whether the parameters of a clause allow its use: whether its weight (q) is not 0. A clause without a
// valid weight has weight 1.
func hasWeight(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return err != nil || weight > 0
	}
	return true
}
