// The servers of Kubernetes in one program, named by its first argument: etcd, kube-apiserver, kube-controller-manager or kube-scheduler.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var commands = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	arguments := os.Args[1:]
	if len(arguments) > 0 && arguments[0] == "etcd" {
		etcdmain.Main(arguments)
		return
	}
	if len(arguments) == 0 || commands[arguments[0]] == nil {
		fmt.Fprintln(os.Stderr, "Name etcd, kube-apiserver, kube-controller-manager or kube-scheduler.")
		os.Exit(2)
	}
	os.Args = arguments
	os.Exit(cli.Run(commands[arguments[0]]()))
}
