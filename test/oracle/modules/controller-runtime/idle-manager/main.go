// A controller-runtime manager that does nothing, and says how long it takes: what the benchmark of our controllers
// is put beside. It caches the Pods of a cluster, reconciles each once, then reconciles all of them again on a line
// from standard input, and prints how late each later change is.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const sentAnnotation = "bench.keelson.dev/sent"

func main() {
	kubeconfig := flag.String("cluster", "", "")
	objects := flag.Int64("objects", 0, "how many Pods there are")
	workers := flag.Int("workers", 8, "")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	if err := run(*kubeconfig, *objects, *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig string, objects int64, workers int) error {
	ctx := ctrl.SetupSignalHandler()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	var runs atomic.Int64
	reached := make(chan struct{}, 1)
	cached := manager.GetClient()
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		now := time.Now()
		var pod corev1.Pod
		if err := cached.Get(ctx, request.NamespacedName, &pod); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if sent, ok := pod.Annotations[sentAnnotation]; ok && runs.Load() >= objects {
			say(map[string]any{"type": "late", "sent": sent, "at": float64(now.UnixNano()) / 1e6})
		}
		if runs.Add(1)%objects == 0 {
			select {
			case reached <- struct{}{}:
			default:
			}
		}
		return reconcile.Result{}, nil
	})
	again := make(chan event.TypedGenericEvent[*corev1.Pod], 1024)
	begun := time.Now()
	err = ctrl.NewControllerManagedBy(manager).
		For(&corev1.Pod{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		WatchesRawSource(source.Channel(again, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})).
		Complete(reconciler)
	if err != nil {
		return err
	}
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		<-reached
		say(map[string]any{"type": "started", "ms": since(begun)})
		for lines.Scan() {
			var list corev1.PodList
			if err := cached.List(ctx, &list); err != nil {
				say(map[string]any{"type": "failed", "error": err.Error()})
				return
			}
			// Only how many, so that the count comes out even.
			runs.Store(0)
			start := time.Now()
			for i := range list.Items {
				again <- event.TypedGenericEvent[*corev1.Pod]{Object: &list.Items[i]}
			}
			<-reached
			tookMs := since(start)
			list.Items = nil
			runtime.GC()
			runtime.GC()
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			say(map[string]any{"type": "again", "ms": tookMs, "heapBytes": memory.HeapAlloc})
		}
	}()
	return manager.Start(ctx)
}

func since(start time.Time) float64 {
	return float64(time.Since(start).Microseconds()) / 1000
}

func say(message map[string]any) {
	line, _ := json.Marshal(message)
	fmt.Println(string(line))
}
