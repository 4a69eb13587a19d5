#!/bin/sh
# Runs a command as root in a virtual machine with Debian's kernel, which sees this machine's files.
#
# usage: sh xt/vm.sh [--arch amd64|arm64] [--cpus N] [--limit SECONDS] COMMAND [ARG ...]
#   --arch arm64   files of an arm64 Debian, made once, in place of this machine's; this folder is
#                  at the same path there, and has to be built by the command, in a copy
#   --cpus N       processors; default 2
#   --limit S      ends the machine after so many seconds; default 1800
#
# The command begins in this folder. All files are read-only, but /tmp and /run are empty and its
# own. What this shows, no container can: the settings of Yama, and process_vm_readv on arm64.
#
#   sh xt/vm.sh env DPROF_YAMA=1 prove xt/attach-yama.t
#   sh xt/vm.sh --arch arm64 --limit 9000 sh -c 'cp -a . /tmp/src && cd /tmp/src && make clean; \
#       perl Makefile.PL && make && prove -b t/143-attach.t'
#
# Needs root, a network, and Debian's packages qemu-system-x86 or qemu-system-arm, busybox-static,
# cpio, and for arm64 debootstrap and qemu-user-static. Prints what the machine prints. The exit
# status is the command's.
set -eu

arch=amd64 cpus=2 limit=1800
cache=${DPROF_VM:-/var/tmp/dprof-vm}
top=$(cd "$(dirname "$0")/.." && pwd -P)
fail() { printf 'xt/vm.sh: %s\n' "$*" >&2; exit 1; }

while [ $# -gt 0 ]; do
    case $1 in
        --arch)  arch=$2; shift 2 ;;
        --cpus)  cpus=$2; shift 2 ;;
        --limit) limit=$2; shift 2 ;;
        --)      shift; break ;;
        -*)      fail "$1: no such option; see the top of this file" ;;
        *)       break ;;
    esac
done
[ $# -gt 0 ] || fail 'which command? See the top of this file'
[ "$(id -u)" = 0 ] || fail 'needs root'
case $arch in
    amd64) qemu='qemu-system-x86_64 -cpu max' console=ttyS0 root=/ ;;
    arm64) qemu='qemu-system-aarch64 -M virt -cpu cortex-a57' console=ttyAMA0
           root=$cache/root-arm64 ;;
    *)     fail "$arch: no such machine; amd64 or arm64" ;;
esac
mkdir -p "$cache"

# Runs a command in a root folder: within FOLDER COMMAND ... Programs of arm64 run in qemu-user,
# which the kernel of this machine knows only as long as the command runs.
within() {
    if [ "$1" = / ]; then shift; "$@"; return; fi
    unshare -m --propagation private sh -ec '
        root=$1; shift
        binfmt=/proc/sys/fs/binfmt_misc
        mount -t binfmt_misc binfmt_misc $binfmt
        [ -e $binfmt/qemu-aarch64 ] ||
            grep -v "^#" /usr/lib/binfmt.d/qemu-aarch64.conf > $binfmt/register
        mkdir -p "$root/proc"
        mount -t proc proc "$root/proc"
        exec chroot "$root" "$@"' sh "$@"
}

if [ ! -d "$root" ]; then
    packages=perl,gcc,make,libc6-dev,libcrypt-dev,zlib1g-dev,strace,procps,busybox-static
    debootstrap --foreign --arch="$arch" --variant=minbase --include="$packages" bookworm \
        "$root.new" http://deb.debian.org/debian
    within "$root.new" /debootstrap/debootstrap --second-stage
    for file in /etc/resolv.conf /etc/hosts /etc/apt/apt.conf.d/*; do
        [ ! -f "$file" ] || cat "$file" > "$root.new$file"
    done
    within "$root.new" apt-get -q update
    mkdir -p "$root.new$top"
    mv "$root.new" "$root"
fi

# The kernel, and the modules that find the files.
if [ ! -d "$cache/kernel-$arch" ]; then
    name=$(within "$root" apt-cache depends "linux-image-$arch" |
        sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
    within "$root" sh -c "mkdir -p /tmp/kernel && cd /tmp/kernel && apt-get -q download $name"
    dpkg-deb -x "$root"/tmp/kernel/"$name"_*.deb "$cache/kernel-$arch"
    rm -r "$root/tmp/kernel"
fi
kernel=$(echo "$cache/kernel-$arch"/boot/vmlinuz-*)

# The first files: a shell, the modules, the command, and a script that mounts the others.
first=$(mktemp -d)
trap 'rm -rf "$first"' 0
mkdir "$first/root"
cd "$first/root"
mkdir bin dev mod new proc sys
cp "$root/bin/busybox" bin/
modules='virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci netfs fscache
    9pnet 9pnet_virtio 9p'
for module in $modules; do      # some are in the kernel of some machines
    find "$cache/kernel-$arch/lib/modules" -name "$module.ko" -exec cp {} mod/ \;
done
{
    echo 'export HOME=/root TERM=dumb'
    echo 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    printf "cd '%s'\n" "$top"
    for word; do printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done
    printf '\necho "xt/vm.sh: status $?"\necho o > /proc/sysrq-trigger\nsleep 60\n'
} > command
cat > init <<END
#!/bin/busybox sh
busybox=/bin/busybox
\$busybox mount -t proc proc /proc
\$busybox mount -t devtmpfs dev /dev
for module in $(echo $modules); do
    [ ! -e /mod/\$module.ko ] || \$busybox insmod /mod/\$module.ko
done
files='-t 9p -o ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose'
\$busybox mount \$files root /new
for dir in tmp run; do \$busybox mount -t tmpfs \$dir /new/\$dir; done
\$busybox chmod 1777 /new/tmp
\$busybox mount -t proc proc /new/proc
\$busybox mount -t sysfs sys /new/sys
\$busybox mount -t devtmpfs dev /new/dev
\$busybox mkdir -p /new/dev/pts /new/dev/shm '/new$top'
\$busybox mount -t devpts pts /new/dev/pts
\$busybox mount -t tmpfs shm /new/dev/shm
\$busybox mount \$files top '/new$top'
\$busybox cp /command /new/run/command
\$busybox ip link set lo up
exec \$busybox chroot /new /bin/sh /run/command
END
chmod 755 init
find . | cpio -o -H newc 2>/dev/null | gzip > ../initrd

files=security_model=none,readonly=on,multidevs=remap
timeout "$limit" $qemu -accel tcg,thread=multi -m 3072 -smp "$cpus" -nographic -net none \
    -no-reboot -kernel "$kernel" -initrd ../initrd \
    -append "console=$console loglevel=1 panic=-1" \
    -virtfs "local,path=$root,mount_tag=root,$files" \
    -virtfs "local,path=$top,mount_tag=top,$files" < /dev/null | tee ../printed
status=$(sed -n 's/^xt.vm.sh: status \([0-9]*\).*/\1/p' ../printed)
exit "${status:-1}"
