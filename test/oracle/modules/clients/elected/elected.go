// Package elected is what managers of these programs share: a cluster and a lease by flags, and work that begins with the lease.
package elected

import (
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Main runs a manager that elects its leader by the lease id, until it is told to stop. What it works on is added by build,
// which learns where the lease is. It prints "leading" when it leads.
func Main(id string, build func(built manager.Manager, namespace string) error) {
	kubeconfig := flag.String("cluster", "", "a kubeconfig: where the cluster is")
	namespace := flag.String("namespace", "default", "where the lease is")
	lease := flag.Duration("lease", 4*time.Second, "how long the lease lasts")
	flag.Parse()
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	built, err := electing(id, *kubeconfig, *namespace, *lease)
	if err == nil {
		err = build(built, *namespace)
	}
	if err == nil {
		go func() {
			<-built.Elected()
			fmt.Println("leading")
		}()
		err = built.Start(ctrl.SetupSignalHandler())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func electing(id, kubeconfig, namespace string, lease time.Duration) (manager.Manager, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	renew, again := lease*3/4, lease/8
	return manager.New(config, manager.Options{
		LeaderElection:                true,
		LeaderElectionID:              id,
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &again,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
	})
}
