package taintnodesbycondition

import (
	"testing"

	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

// TestCases compares the plugin with kube-apiserver's.
func TestCases(t *testing.T) { admissiontest.Replay(t, Plugin{}) }
