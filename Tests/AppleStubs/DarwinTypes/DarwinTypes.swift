// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The types of Darwin's C headers, as Swift imports them. They have a module of their own, since some functions
// have the name of a type.

public typealias blkcnt_t = Int64
public typealias blksize_t = Int32
public typealias dev_t = Int32
public typealias errno_t = Int32
public typealias fsblkcnt_t = UInt32
public typealias fsfilcnt_t = UInt32
public typealias gid_t = UInt32
public typealias in_addr_t = UInt32
public typealias ino_t = UInt64
public typealias mode_t = UInt16
public typealias nlink_t = UInt16
public typealias off_t = Int64
public typealias pid_t = Int32
public typealias rlim_t = UInt64
public typealias rsize_t = Int
public typealias sig_t = @convention(c) (Int32) -> Void
public typealias socklen_t = UInt32
public typealias ssize_t = Int
public typealias suseconds_t = Int32
public typealias tcflag_t = UInt
public typealias time_t = Int
public typealias uid_t = UInt32
public typealias useconds_t = UInt32

public struct clockid_t: RawRepresentable, Equatable, Sendable {
    public var rawValue: UInt32
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public struct timespec {
    public var tv_sec = 0
    public var tv_nsec = 0
    public init() {}
    public init(tv_sec: Int, tv_nsec: Int) {}
}

public struct timeval {
    public var tv_sec = 0
    public var tv_usec: suseconds_t = 0
    public init() {}
    public init(tv_sec: Int, tv_usec: suseconds_t) {}
}

public struct rlimit {
    public var rlim_cur: rlim_t = 0
    public var rlim_max: rlim_t = 0
    public init() {}
    public init(rlim_cur: rlim_t, rlim_max: rlim_t) {}
}

public struct stat {
    public var st_dev: dev_t = 0
    public var st_mode: mode_t = 0
    public var st_nlink: nlink_t = 0
    public var st_ino: ino_t = 0
    public var st_uid: uid_t = 0
    public var st_gid: gid_t = 0
    public var st_rdev: dev_t = 0
    public var st_atimespec = timespec()
    public var st_mtimespec = timespec()
    public var st_ctimespec = timespec()
    public var st_birthtimespec = timespec()
    public var st_size: off_t = 0
    public var st_blocks: blkcnt_t = 0
    public var st_blksize: blksize_t = 0
    public var st_flags: UInt32 = 0
    public var st_gen: UInt32 = 0
    public init() {}
}

public struct statvfs {
    public var f_bsize: UInt = 0
    public var f_frsize: UInt = 0
    public var f_blocks: fsblkcnt_t = 0
    public var f_bfree: fsblkcnt_t = 0
    public var f_bavail: fsblkcnt_t = 0
    public var f_files: fsfilcnt_t = 0
    public var f_ffree: fsfilcnt_t = 0
    public var f_favail: fsfilcnt_t = 0
    public var f_fsid: UInt = 0
    public var f_flag: UInt = 0
    public var f_namemax: UInt = 0
    public init() {}
}

public struct flock {
    public var l_start: off_t = 0
    public var l_len: off_t = 0
    public var l_pid: pid_t = 0
    public var l_type: Int16 = 0
    public var l_whence: Int16 = 0
    public init() {}
}

public struct group {
    public var gr_name: UnsafeMutablePointer<CChar>!
    public var gr_passwd: UnsafeMutablePointer<CChar>!
    public var gr_gid: gid_t = 0
    public var gr_mem: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!
    public init() {}
}

public struct passwd {
    public var pw_name: UnsafeMutablePointer<CChar>!
    public var pw_passwd: UnsafeMutablePointer<CChar>!
    public var pw_uid: uid_t = 0
    public var pw_gid: gid_t = 0
    public var pw_change: time_t = 0
    public var pw_class: UnsafeMutablePointer<CChar>!
    public var pw_gecos: UnsafeMutablePointer<CChar>!
    public var pw_dir: UnsafeMutablePointer<CChar>!
    public var pw_shell: UnsafeMutablePointer<CChar>!
    public var pw_expire: time_t = 0
    public init() {}
}

public struct in_addr {
    public var s_addr: in_addr_t = 0
    public init() {}
}

public struct in6_addr {
    public init() {}
}

public struct termios {
    public var c_iflag: tcflag_t = 0
    public var c_oflag: tcflag_t = 0
    public var c_cflag: tcflag_t = 0
    public var c_lflag: tcflag_t = 0
    public var c_ispeed: UInt = 0
    public var c_ospeed: UInt = 0
    public init() {}
}

public struct winsize {
    public var ws_row: UInt16 = 0
    public var ws_col: UInt16 = 0
    public var ws_xpixel: UInt16 = 0
    public var ws_ypixel: UInt16 = 0
    public init() {}
}

public struct FILE {
    public init() {}
}

public struct utsname {
    /// Shorter than the 256 characters of the real fields, which nothing that type-checks can tell.
    public typealias Field = (CChar, CChar, CChar, CChar)

    public var sysname: Field = (0, 0, 0, 0)
    public var nodename: Field = (0, 0, 0, 0)
    public var release: Field = (0, 0, 0, 0)
    public var version: Field = (0, 0, 0, 0)
    public var machine: Field = (0, 0, 0, 0)
    public init() {}
}
