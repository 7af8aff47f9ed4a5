# Runs as the first process of new mount, process id, network and cgroup namespaces: makes a root of its own, which is this system's
# with every change in memory, and becomes systemd. Argument: an empty folder.
set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir changes work root
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" root
cd root
mount -t proc proc proc
# Of the kernel's settings only those of its own network may be changed: all others are this system's too.
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t proc proc mnt
mount --bind mnt/sys/net proc/sys/net
umount mnt
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/shm dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for device in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "dev/${device%:*}" c 1 "${device#*:}"; done
mknod -m 666 dev/tty c 5 0
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 sys/fs/cgroup
else
  mount -t tmpfs tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
  mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
  mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
fi
# Nothing of this system's own configuration: what is installed here is to be all that is started.
rm -rf etc/systemd/system var/lib/bgp-lb etc/bgp-lb usr/sbin/policy-rc.d var/log/journal
mkdir -p etc/systemd/system old
# What is about this system's devices and modules is none of its business.
for unit in modules-load sysctl tmpfiles-setup-dev udevd udev-trigger random-seed remount-fs hwdb-update; do
  ln -s /dev/null "etc/systemd/system/systemd-$unit.service"
done
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\n' >etc/systemd/system/machine.target
pivot_root . old
umount -l /old
exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=machine.target --log-target=null
