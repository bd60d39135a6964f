package oracle

import (
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	upstream "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	upstreamapproval "k8s.io/kubernetes/plugin/pkg/admission/certificates/approval"
	upstreamsigning "k8s.io/kubernetes/plugin/pkg/admission/certificates/signing"
	"k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"
	upstreamtolerations "k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	upstreamlimits "k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/nodedeclaredfeatures"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/podresize"
	upstreampriority "k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/persistentvolume/resize"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
	"github.com/cadastre/cadastre/internal/admission/plugin/certificateapproval"
	"github.com/cadastre/cadastre/internal/admission/plugin/certificatesigning"
	"github.com/cadastre/cadastre/internal/admission/plugin/certificatesubjectrestriction"
	"github.com/cadastre/cadastre/internal/admission/plugin/defaulttolerationseconds"
	"github.com/cadastre/cadastre/internal/admission/plugin/limitranger"
	"github.com/cadastre/cadastre/internal/admission/plugin/namespacelifecycle"
	"github.com/cadastre/cadastre/internal/admission/plugin/nodedeclaredfeaturevalidator"
	"github.com/cadastre/cadastre/internal/admission/plugin/persistentvolumeclaimresize"
	"github.com/cadastre/cadastre/internal/admission/plugin/podresizevalidator"
	"github.com/cadastre/cadastre/internal/admission/plugin/priority"
	"github.com/cadastre/cadastre/internal/admission/plugin/taintnodesbycondition"
)

// pair is a plugin of Cadastre and the plugin of kube-apiserver with the same name.
type pair struct {
	// folder is the name of the folder of Cadastre's plugin.
	folder   string
	cadastre admission.Plugin
	upstream func() (upstream.Interface, error)
	// random returns the lines of a random case. It is nil if the plugin has no random cases.
	random func(*rand.Rand) string
	// recorded is the number of random cases that are recorded for the unit tests of the plugin.
	recorded int
}

var pairs = []pair{
	{"namespacelifecycle", namespacelifecycle.Plugin{}, newLifecycle, nil, 0},
	{"limitranger", limitranger.Plugin{}, newLimitRanger, randomLimits, 60},
	{"taintnodesbycondition", taintnodesbycondition.Plugin{}, func() (upstream.Interface, error) { return nodetaint.NewPlugin(), nil }, randomTaints, 10},
	{"priority", priority.Plugin{}, func() (upstream.Interface, error) { return upstreampriority.NewPlugin(), nil }, randomPriority, 40},
	{"defaulttolerationseconds", defaulttolerationseconds.Plugin{}, newTolerations, randomTolerations, 20},
	{"certificateapproval", &certificateapproval.Plugin{Authorizer: admissiontest.Signers}, newApproval, nil, 0},
	{"certificatesigning", &certificatesigning.Plugin{Authorizer: admissiontest.Signers}, newSigning, nil, 0},
	{"certificatesubjectrestriction", certificatesubjectrestriction.Plugin{}, func() (upstream.Interface, error) { return subjectrestriction.NewPlugin(), nil }, nil, 0},
	{"nodedeclaredfeaturevalidator", nodedeclaredfeaturevalidator.Plugin{}, func() (upstream.Interface, error) { return nodedeclaredfeatures.NewPlugin() }, nil, 0},
	{"podresizevalidator", podresizevalidator.Plugin{}, func() (upstream.Interface, error) { return podresize.NewPlugin() }, nil, 0},
	{"persistentvolumeclaimresize", persistentvolumeclaimresize.Plugin{}, newResize, randomResize, 30},
}

func newLifecycle() (upstream.Interface, error) {
	return lifecycle.NewLifecycle(sets.New(metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic))
}

func newLimitRanger() (upstream.Interface, error) { return upstreamlimits.NewLimitRanger(nil) }

func newTolerations() (upstream.Interface, error) {
	return upstreamtolerations.NewDefaultTolerationSeconds(), nil
}

func newApproval() (upstream.Interface, error) {
	plugin := upstreamapproval.NewPlugin()
	plugin.SetUnconditionalAuthorizer(admissiontest.Signers)
	return plugin, nil
}

func newSigning() (upstream.Interface, error) {
	plugin := upstreamsigning.NewPlugin()
	plugin.SetUnconditionalAuthorizer(admissiontest.Signers)
	return plugin, nil
}

// newResize creates the plugin through its registration, because it has no exported constructor. startPlugin replaces
// its informers later.
func newResize() (upstream.Interface, error) {
	plugins := upstream.NewPlugins()
	resize.Register(plugins)
	return plugins.InitPlugin(resize.PluginName, nil, informerInitializer{})
}

// informerInitializer is a plugin initializer that sets empty informers.
type informerInitializer struct{}

// Initialize implements admission.PluginInitializer.
func (informerInitializer) Initialize(plugin upstream.Interface) {
	if p, ok := plugin.(initializer.WantsExternalKubeInformerFactory); ok {
		p.SetExternalKubeInformerFactory(informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0))
	}
}
