#!/bin/sh
# Makes a folder for KUBEBUILDER_ASSETS: kube-apiserver, kube-controller-manager, kubeadm and kubectl, built from the source package
# that Debian 12 has of Kubernetes (1.20.2; its binary package is kubectl alone), and etcd from its own package. apt checks what it
# fetches; nothing is installed. It takes some ten minutes of two processors, and 3 GB of disk until it has ended.
# Usage: sh scripts/kubernetes-assets.sh FOLDER
set -eu

[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
assets=$(cd "$1" && pwd)
work=$assets/build
mkdir -p "$work/lists/partial"

# The mirrors that apt uses already, for sources too. Copies: the machine's own lists stay as they are.
mkdir -p "$work/parts"
if [ -d /etc/apt/sources.list.d ]; then cp -r /etc/apt/sources.list.d/. "$work/parts"; fi
if [ -e /etc/apt/sources.list ]; then cp /etc/apt/sources.list "$work/parts/main.list"; fi
find "$work/parts" -name '*.sources' -exec sed -i 's/^Types: *deb *$/Types: deb deb-src/' {} +
find "$work/parts" -name '*.list' -exec sed -i 's/^deb \(.*\)/&\ndeb-src \1/' {} +
sources() {
  apt-get -qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList=- -o Dir::Etc::SourceParts="$work/parts" \
    -o Dir::State::Lists="$work/lists" "$@"
}
cd "$work"
sources update
sources source --download-only kubernetes
apt-get -qq -o APT::Sandbox::User=root download \
  golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev etcd-server
for package in *.deb; do dpkg -x "$package" root; done

tree=$work/go/src/k8s.io/kubernetes
mkdir -p "$tree"
tar -xf kubernetes_*.orig.tar.* -C "$tree" --strip-components=1
# The one that it brings fails with maps since Go 1.18.
reflect=github.com/modern-go/reflect2
rm "$tree/vendor/$reflect"/*.go
cp "root/usr/share/gocode/src/$reflect"/*.go "root/usr/share/gocode/src/$reflect"/*.s "$tree/vendor/$reflect/"
rm -f "$tree/vendor/$reflect"/*_test.go

export GOROOT="$work/root/usr/lib/go-1.19" GOPATH="$work/go" GOCACHE="$work/cache" GO111MODULE=off CGO_ENABLED=0
go=$GOROOT/bin/go
PATH=$GOROOT/bin:$PATH
cd "$tree"
# What its Makefile generates before it compiles: the OpenAPI description of every type that asks for one.
"$go" build -o "$work/openapi-gen" k8s.io/kubernetes/vendor/k8s.io/kube-openapi/cmd/openapi-gen
described() { grep -rl '^// +k8s:openapi-gen=' --include=*.go "$@" | grep -v -e sample -e example -e test -e zz_ | xargs -n1 dirname; }
types=$({
  described pkg cmd plugin | sed 's#^#k8s.io/kubernetes/#'
  (cd staging/src && described k8s.io | sed 's#^#k8s.io/kubernetes/vendor/#')
} | sort -u | paste -sd,)
"$work/openapi-gen" -i "$types" -p k8s.io/kubernetes/pkg/generated/openapi -O zz_generated.openapi \
  -h hack/boilerplate/boilerplate.generatego.txt -r "$work/violations"

version=$(sed -n 's/^Version: .*really\([0-9.]*\)-.*/v\1/p' "$work"/kubernetes_*.dsc)
set -- gitVersion="$version" gitMajor=1 gitMinor="$(echo "$version" | cut -d. -f2)"
flags='-s -w'
for setting; do
  flags="$flags -X k8s.io/kubernetes/vendor/k8s.io/component-base/version.$setting -X k8s.io/kubernetes/vendor/k8s.io/client-go/pkg/version.$setting"
done
for program in kube-apiserver kube-controller-manager kubeadm kubectl; do
  "$go" build -ldflags "$flags" -o "$assets/$program" "k8s.io/kubernetes/cmd/$program"
done
cp "$work/root/usr/bin/etcd" "$assets/etcd"
cd "$assets"
rm -rf "$work"
"$assets/kubeadm" version -o short
