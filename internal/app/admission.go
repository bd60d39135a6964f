package app

import (
	"context"
	"slices"
	"sync/atomic"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/plugin/certificateapproval"
	"github.com/cadastre/cadastre/internal/admission/plugin/certificatesigning"
	"github.com/cadastre/cadastre/internal/admission/plugin/certificatesubjectrestriction"
	"github.com/cadastre/cadastre/internal/admission/plugin/defaulttolerationseconds"
	"github.com/cadastre/cadastre/internal/admission/plugin/deviceaccess"
	"github.com/cadastre/cadastre/internal/admission/plugin/limitranger"
	"github.com/cadastre/cadastre/internal/admission/plugin/namespacelifecycle"
	"github.com/cadastre/cadastre/internal/admission/plugin/nodedeclaredfeaturevalidator"
	"github.com/cadastre/cadastre/internal/admission/plugin/persistentvolumeclaimresize"
	"github.com/cadastre/cadastre/internal/admission/plugin/podcertificatesigning"
	"github.com/cadastre/cadastre/internal/admission/plugin/podresizevalidator"
	"github.com/cadastre/cadastre/internal/admission/plugin/priority"
	"github.com/cadastre/cadastre/internal/admission/plugin/rbacescalation"
	"github.com/cadastre/cadastre/internal/admission/plugin/taintnodesbycondition"
	"github.com/cadastre/cadastre/internal/admission/policy"
	"github.com/cadastre/cadastre/internal/admission/webhook"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/informer"
)

// plugins returns the admission plugins in the order in which they are called, which is that of kube-apiserver: in-tree
// plugins, including the extensions of the embedding program, then mutating policies and webhooks, then validating policies and
// webhooks.
func plugins(roles *rbac.Authorizer, authorizes authorizer.Authorizer, extensions []admission.Plugin, policies *policy.Policies, webhooks *webhook.Webhooks) []admission.Plugin {
	return slices.Concat([]admission.Plugin{
		namespacelifecycle.Plugin{},
		limitranger.Plugin{},
		taintnodesbycondition.Plugin{},
		priority.Plugin{},
		defaulttolerationseconds.Plugin{},
		&deviceaccess.Plugin{Authorizer: authorizes},
		&rbacescalation.Plugin{RBAC: roles, Authorizer: authorizes},
		persistentvolumeclaimresize.Plugin{},
		&certificateapproval.Plugin{Authorizer: authorizes},
		&certificatesigning.Plugin{Authorizer: authorizes},
		certificatesubjectrestriction.Plugin{},
		&podcertificatesigning.Plugin{Authorizer: authorizes},
		nodedeclaredfeaturevalidator.Plugin{},
		podresizevalidator.Plugin{},
	}, extensions, []admission.Plugin{
		policies.Mutating(),
		webhooks.Mutating(),
		policies.Validating(),
		webhooks.Validating(),
	})
}

// PluginNames returns the names of the built-in admission plugins.
func PluginNames() []string {
	var names []string
	for _, plugin := range plugins(nil, nil, nil, &policy.Policies{}, &webhook.Webhooks{}) {
		names = append(names, plugin.Name())
	}
	return names
}

// extension is an admission plugin of the embedding program. Like a webhook, it is not called for the objects that the server
// creates at its start, so that a faulty plugin cannot prevent the start.
type extension struct {
	admission.Extension
	isStarted *atomic.Bool
}

// Handles implements admission.Plugin.
func (e extension) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if !e.isStarted.Load() {
		return 0
	}
	return e.Plugin.Handles(operation, r)
}

// dynamicAdmission contains the admission plugins for webhooks and policies, which API objects configure.
type dynamicAdmission struct {
	chain    *admission.Chain
	webhooks *webhook.Webhooks
	policies *policy.Policies
	informer *informer.Informer
	// isStarted is set when the server's own objects exist. Extensions are called only after that.
	isStarted atomic.Bool
}

// start loads the webhook configurations and policies, and starts an informer that keeps them up to date. Then it enables
// the extensions.
func (d *dynamicAdmission) start(ctx context.Context, options informer.Options) (err error) {
	options.Kinds = slices.Concat(webhook.Resources, policy.Resources)
	options.Handler = informer.SnapshotHandler(d.set)
	options.Description = "admission configurations"
	if d.informer, err = informer.Start(ctx, options); err != nil {
		return err
	}
	d.isStarted.Store(true)
	d.chain.Invalidate()
	return nil
}

// set replaces the configuration objects of one resource.
func (d *dynamicAdmission) set(resource string, objects map[string]*watchcache.Object) {
	d.webhooks.Set(resource, objects)
	d.policies.Set(resource, objects)
	d.chain.Invalidate()
}

func (d *dynamicAdmission) close() {
	if d.informer != nil {
		d.informer.Close()
	}
	d.webhooks.Close()
}
