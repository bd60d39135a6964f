package certificatesubjectrestriction

import (
	"testing"

	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

// TestCases compares the plugin with recorded answers of kube-apiserver's plugin.
func TestCases(t *testing.T) { admissiontest.Replay(t, Plugin{}) }
