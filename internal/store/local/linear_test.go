package local

import (
	"testing"

	"github.com/cadastre/cadastre/internal/store/storetest"
)

func TestLinearizable(t *testing.T) {
	s := open(t, Options{Folder: t.TempDir()})
	defer s.Close()
	storetest.RunLinearizable(t, s)
}
