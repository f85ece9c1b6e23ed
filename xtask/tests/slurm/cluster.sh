#!/bin/bash
# A Slurm of one's own on this machine: munge, a controller and two nodes, with everything in one folder and no port or file
# of the system's. Needs the Debian packages munge, slurmctld, slurmd and slurm-client, and no other privilege than a user's.
#
#   cluster.sh check          exit 0 if the programs are here, else say which are not
#   cluster.sh start DIR      make DIR and start everything; DIR/env is to be sourced before sbatch, squeue, scontrol
#   cluster.sh restart DIR    end the controller in the midst of its work, and start it again after a second in which tasks end too
#   cluster.sh stop DIR       end everything, jobs too
#
# Used by crates/svn-bench/tests/cli/slurm.rs. Slurm 22.05 (Debian 12) and later.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

check() {
    local missing=()
    for program in munged slurmctld slurmd sbatch squeue scontrol scancel; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    [ ${#missing[@]} -eq 0 ] || { echo "not here: ${missing[*]}"; return 1; }
}

port() { # a free one
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

controller() {
    SLURM_CONF=$1/slurm.conf slurmctld -L "$1/slurmctld.log" >>"$1/start.log" 2>&1
}

start() {
    local dir user
    mkdir -p "$1"/{state,spool1,spool2,munge}
    dir=$(cd "$1" && pwd)
    user=$(id -un)
    chmod 700 "$dir/munge"
    head -c 128 /dev/urandom >"$dir/munge/key"
    chmod 600 "$dir/munge/key"
    munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
        --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
    cat >"$dir/slurm.conf" <<CONF
ClusterName=loopback
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$(port)
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmdSpoolDir=$dir/spool.%n
SlurmdLogFile=$dir/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmdTimeout=30
KillWait=2
MinJobAge=300
NodeName=node1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$(port) CPUs=2 RealMemory=4000
NodeName=node2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$(port) CPUs=2 RealMemory=4000
PartitionName=all Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
CONF
    echo "export SLURM_CONF='$dir/slurm.conf'" >"$dir/env"
    controller "$dir"
    for node in node1 node2; do
        SLURM_CONF=$dir/slurm.conf slurmd -N "$node" >>"$dir/start.log" 2>&1
    done
    for _ in $(seq 100); do
        [ "$(SLURM_CONF=$dir/slurm.conf sinfo -h -o %t 2>/dev/null)" = idle ] && return 0
        sleep 0.2
    done
    echo "no node became idle; $dir/start.log and $dir/*.log say why" >&2
    return 1
}

end() { # the process of a pid file, and wait until it is gone
    local pid
    pid=$(cat "$1" 2>/dev/null) || return 0
    kill "$2" "$pid" 2>/dev/null || return 0
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}

restart() {
    end "$1/slurmctld.pid" -TERM
    sleep 1
    controller "$1"
}

stop() {
    SLURM_CONF=$1/slurm.conf scancel --full --signal=KILL --user="$(id -un)" 2>/dev/null || true
    end "$1/slurmctld.pid" -TERM
    end "$1/slurmd.node1.pid" -TERM
    end "$1/slurmd.node2.pid" -TERM
    end "$1/munge/pid" -TERM
}

"$1" "${2:+$(realpath -m "$2")}"
