package stored

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/document"
)

// typeMeta is the apiVersion and kind of an object.
type typeMeta struct{ apiVersion, kind string }

// equalVersions maps kinds at versions at which kube-apiserver 1.37 stores objects, and which Cadastre does not serve, to the storage
// versions of Cadastre. Every field of the storage version has the same JSON name and protobuf number in the other version. Fields that
// only the other version has are dropped, as kube-apiserver does when it serves the storage version. kube-apiserver stores a kind at a
// version that its previous release serves, so a kind is stored at its beta version for a release.
var equalVersions = map[typeMeta]string{
	{"certificates.k8s.io/v1beta1", "ClusterTrustBundle"}:          "certificates.k8s.io/v1",
	{"certificates.k8s.io/v1beta1", "PodCertificateRequest"}:       "certificates.k8s.io/v1",
	{"resource.k8s.io/v1beta2", "DeviceTaintRule"}:                 "resource.k8s.io/v1",
	{"storagemigration.k8s.io/v1beta1", "StorageVersionMigration"}: "storagemigration.k8s.io/v1",
}

// withEqualVersion returns a document whose apiVersion is replaced according to equalVersions.
func withEqualVersion(doc document.Value) document.Value {
	if version, ok := equalVersions[typeMeta{doc.Get("apiVersion").Text(), doc.Get("kind").Text()}]; ok {
		return doc.With("apiVersion", document.NewString(version))
	}
	return doc
}

// protobufWithEqualVersion returns a value in protobuf in whose envelope the apiVersion is replaced according to equalVersions. It
// returns a malformed value unchanged, which the decoder reports.
func protobufWithEqualVersion(stored []byte) []byte {
	envelope := runtime.Unknown{}
	if envelope.Unmarshal(stored[len(protobufPrefix):]) != nil {
		return stored
	}
	version, ok := equalVersions[typeMeta{envelope.APIVersion, envelope.Kind}]
	if !ok {
		return stored
	}
	envelope.APIVersion = version
	replaced, err := envelope.Marshal()
	if err != nil {
		return stored
	}
	return append(bytes.Clone(protobufPrefix), replaced...)
}
