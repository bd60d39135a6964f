package admission

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/rules"
	"github.com/cadastre/cadastre/internal/store"
)

// Claims is what the kind of claims of volumes is called in keys.
const Claims = "core/persistentvolumeclaims"

const storageClasses = "storage.k8s.io/storageclasses"

// errFixed is why a claim can't have more.
var errFixed = errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")

// ForClaims returns what is asked of claims: they get more room only from a class that can give it. That they have a
// volume already is a rule of their kind.
func ForClaims(c *cache.Cache) objects.Extra {
	return objects.Extra{MayWrite: func(ctx context.Context, claim, live document.Value) error {
		if live.IsAbsent() || room(claim).Cmp(*room(live)) <= 0 {
			return nil
		}
		if grows, err := canGrow(ctx, c, claim, live); grows || err != nil {
			return err
		}
		name := claim.Lookup("metadata", "name").Text()
		return apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, name, errFixed)
	}}
}

// room is how much a claim asks for.
func room(claim document.Value) *resource.Quantity {
	q, err := rules.ParseQuantity(claim.Lookup("spec", "resources", "requests", "storage").Text())
	if err != nil {
		return new(resource.Quantity) // none; what can't be read does not come here
	}
	return &q
}

func canGrow(ctx context.Context, c *cache.Cache, claim, live document.Value) (bool, error) {
	name := className(claim)
	if name == "" || name != className(live) {
		return false, nil
	}
	class, err := c.Get(ctx, cache.Key{Kind: storageClasses, Name: name}, cache.Latest)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, objects.StoreError(err)
	}
	parsed, err := class.Parsed()
	if err != nil {
		return false, objects.StoreError(err)
	}
	return parsed.Document.Get("allowVolumeExpansion").Bool(), nil
}

// className is that of a claim's class, which was an annotation once.
func className(claim document.Value) string {
	if name := claim.Lookup("metadata", "annotations", "volume.beta.kubernetes.io/storage-class"); !name.IsAbsent() {
		return name.Text()
	}
	return claim.Lookup("spec", "storageClassName").Text()
}
