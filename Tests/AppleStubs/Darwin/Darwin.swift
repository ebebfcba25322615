// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The functions and constants of Darwin that Sources use, with the types that Swift's importer gives them there.
// Results of C functions may be ignored.

@_exported import DarwinTypes

public var EPERM: Int32 { 1 }
public var ENOENT: Int32 { 2 }
public var EINTR: Int32 { 4 }
public var EIO: Int32 { 5 }
public var ENXIO: Int32 { 6 }
public var ENOMEM: Int32 { 12 }
public var EACCES: Int32 { 13 }
public var EEXIST: Int32 { 17 }
public var EXDEV: Int32 { 18 }
public var ENOTDIR: Int32 { 20 }
public var EISDIR: Int32 { 21 }
public var EINVAL: Int32 { 22 }
public var EMFILE: Int32 { 24 }
public var EFBIG: Int32 { 27 }
public var ENOSPC: Int32 { 28 }
public var EROFS: Int32 { 30 }
public var EMLINK: Int32 { 31 }
public var EPIPE: Int32 { 32 }
public var EAGAIN: Int32 { 35 }
public var EWOULDBLOCK: Int32 { 35 }
public var ENOTSUP: Int32 { 45 }
public var EADDRINUSE: Int32 { 48 }
public var EADDRNOTAVAIL: Int32 { 49 }
public var ENETDOWN: Int32 { 50 }
public var ENETUNREACH: Int32 { 51 }
public var ECONNABORTED: Int32 { 53 }
public var ECONNRESET: Int32 { 54 }
public var ETIMEDOUT: Int32 { 60 }
public var ECONNREFUSED: Int32 { 61 }
public var ELOOP: Int32 { 62 }
public var ENAMETOOLONG: Int32 { 63 }
public var EHOSTDOWN: Int32 { 64 }
public var EHOSTUNREACH: Int32 { 65 }
public var EDQUOT: Int32 { 69 }
public var EOVERFLOW: Int32 { 84 }
public var O_RDONLY: Int32 { 0 }
public var O_WRONLY: Int32 { 1 }
public var O_RDWR: Int32 { 2 }
public var O_ACCMODE: Int32 { 3 }
public var O_NONBLOCK: Int32 { 4 }
public var O_APPEND: Int32 { 8 }
public var O_NOFOLLOW: Int32 { 256 }
public var O_CREAT: Int32 { 512 }
public var O_TRUNC: Int32 { 1024 }
public var O_EXCL: Int32 { 2048 }
public var O_NOCTTY: Int32 { 131072 }
public var O_DIRECTORY: Int32 { 1048576 }
public var O_CLOEXEC: Int32 { 16777216 }
public var AT_FDCWD: Int32 { -2 }
public var AT_SYMLINK_NOFOLLOW: Int32 { 32 }
public var AT_REMOVEDIR: Int32 { 128 }
public var F_OK: Int32 { 0 }
public var R_OK: Int32 { 4 }
public var W_OK: Int32 { 2 }
public var X_OK: Int32 { 1 }
public var F_SETFD: Int32 { 2 }
public var F_GETFL: Int32 { 3 }
public var F_SETFL: Int32 { 4 }
public var F_GETLK: Int32 { 7 }
public var F_SETLK: Int32 { 8 }
public var F_SETLKW: Int32 { 9 }
public var F_FULLFSYNC: Int32 { 51 }
public var F_BARRIERFSYNC: Int32 { 85 }
public var FD_CLOEXEC: Int32 { 1 }
public var LOCK_SH: Int32 { 1 }
public var LOCK_EX: Int32 { 2 }
public var LOCK_NB: Int32 { 4 }
public var LOCK_UN: Int32 { 8 }
public var SEEK_SET: Int32 { 0 }
public var SEEK_CUR: Int32 { 1 }
public var SEEK_END: Int32 { 2 }
public var STDIN_FILENO: Int32 { 0 }
public var STDOUT_FILENO: Int32 { 1 }
public var STDERR_FILENO: Int32 { 2 }
public var AF_INET: Int32 { 2 }
public var AF_INET6: Int32 { 30 }
public var RLIMIT_CORE: Int32 { 4 }
public var RLIMIT_NOFILE: Int32 { 8 }
public var SIGHUP: Int32 { 1 }
public var SIGINT: Int32 { 2 }
public var SIGQUIT: Int32 { 3 }
public var SIGKILL: Int32 { 9 }
public var SIGPIPE: Int32 { 13 }
public var SIGTERM: Int32 { 15 }
public var SIGWINCH: Int32 { 28 }
public var ECHO: Int32 { 8 }
public var TCSANOW: Int32 { 0 }
public var TCSAFLUSH: Int32 { 2 }
public var PATH_MAX: Int32 { 1024 }
public var ST_RDONLY: Int32 { 1 }
public var EOF: Int32 { -1 }
public var RTLD_LAZY: Int32 { 1 }
public var _SC_PAGESIZE: Int32 { 29 }
public var _SC_NPROCESSORS_ONLN: Int32 { 58 }
public var S_IFMT: mode_t { 0o170000 }
public var S_IFIFO: mode_t { 0o010000 }
public var S_IFCHR: mode_t { 0o020000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFBLK: mode_t { 0o060000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFLNK: mode_t { 0o120000 }
public var S_IFSOCK: mode_t { 0o140000 }
public var S_IRWXU: mode_t { 0o700 }
public var S_IRUSR: mode_t { 0o400 }
public var S_IWUSR: mode_t { 0o200 }
public var S_IXUSR: mode_t { 0o100 }
public var S_IRWXG: mode_t { 0o070 }
public var S_IRWXO: mode_t { 0o007 }
public var CLOCK_REALTIME: clockid_t { clockid_t(rawValue: 0) }
public var CLOCK_MONOTONIC: clockid_t { clockid_t(rawValue: 6) }
public var CLOCK_MONOTONIC_RAW: clockid_t { clockid_t(rawValue: 4) }
public var CLOCK_UPTIME_RAW: clockid_t { clockid_t(rawValue: 8) }
public var CLOCK_PROCESS_CPUTIME_ID: clockid_t { clockid_t(rawValue: 12) }
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { clockid_t(rawValue: 16) }
public var SIG_DFL: sig_t? { nil }
public var SIG_IGN: sig_t? { nil }
public var RLIM_INFINITY: rlim_t { 0x7fff_ffff_ffff_ffff }
public var TIOCGWINSZ: UInt { 0x4008_7468 }
public var stdin: UnsafeMutablePointer<FILE>! { nil }
public var stdout: UnsafeMutablePointer<FILE>! { nil }
public var stderr: UnsafeMutablePointer<FILE>! { nil }
public var errno: Int32 {
    get { 0 }
    set {}
}

public func abort() -> Never { fatalError() }
@discardableResult
public func access(_ a: UnsafePointer<CChar>!, _ b: Int32) -> Int32 { fatalError() }
@discardableResult
public func alarm(_ a: UInt32) -> UInt32 { fatalError() }
@discardableResult
public func arc4random() -> UInt32 { fatalError() }
public func arc4random_buf(_ a: UnsafeMutableRawPointer!, _ b: Int) {}
@discardableResult
public func arc4random_uniform(_ a: UInt32) -> UInt32 { fatalError() }
@discardableResult
public func atexit(_ a: ((@convention(c) () -> Void))!) -> Int32 { fatalError() }
public func bzero(_ a: UnsafeMutableRawPointer!, _ b: Int) {}
@discardableResult
public func calloc(_ a: Int, _ b: Int) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult
public func chmod(_ a: UnsafePointer<CChar>!, _ b: mode_t) -> Int32 { fatalError() }
@discardableResult
public func sysctlbyname(
    _ a: UnsafePointer<CChar>!, _ b: UnsafeMutableRawPointer!, _ c: UnsafeMutablePointer<Int>!,
    _ d: UnsafeMutableRawPointer!, _ e: Int
) -> Int32 { fatalError() }
@discardableResult
public func clock_gettime(_ a: clockid_t, _ b: UnsafeMutablePointer<timespec>!) -> Int32 { fatalError() }
@discardableResult
public func close(_ a: Int32) -> Int32 { fatalError() }
@discardableResult
public func dup(_ a: Int32) -> Int32 { fatalError() }
public func exit(_ a: Int32) -> Never { fatalError() }
public func _exit(_ a: Int32) -> Never { fatalError() }
@discardableResult
public func fchmod(_ a: Int32, _ b: mode_t) -> Int32 { fatalError() }
@discardableResult
public func fclose(_ a: UnsafeMutablePointer<FILE>!) -> Int32 { fatalError() }
@discardableResult
public func fcntl(_ a: Int32, _ b: Int32) -> Int32 { fatalError() }
@discardableResult
public func fcntl(_ a: Int32, _ b: Int32, _ c: Int32) -> Int32 { fatalError() }
@discardableResult
public func fcntl(_ a: Int32, _ b: Int32, _ c: UnsafeMutableRawPointer) -> Int32 { fatalError() }
@discardableResult
public func fdopen(_ a: Int32, _ b: UnsafePointer<CChar>!) -> UnsafeMutablePointer<FILE>! { fatalError() }
@discardableResult
public func ferror(_ a: UnsafeMutablePointer<FILE>!) -> Int32 { fatalError() }
@discardableResult
public func fflush(_ a: UnsafeMutablePointer<FILE>!) -> Int32 { fatalError() }
@discardableResult
public func fgetc(_ a: UnsafeMutablePointer<FILE>!) -> Int32 { fatalError() }
@discardableResult
public func flock(_ a: Int32, _ b: Int32) -> Int32 { fatalError() }
@discardableResult
public func fopen(_ a: UnsafePointer<CChar>!, _ b: UnsafePointer<CChar>!) -> UnsafeMutablePointer<FILE>! {
    fatalError()
}
@discardableResult
public func fputs(_ a: UnsafePointer<CChar>!, _ b: UnsafeMutablePointer<FILE>!) -> Int32 { fatalError() }
public func free(_ a: UnsafeMutableRawPointer!) {}
@discardableResult
public func fstat(_ a: Int32, _ b: UnsafeMutablePointer<DarwinTypes.stat>!) -> Int32 { fatalError() }
@discardableResult
public func fstatat(_ a: Int32, _ b: UnsafePointer<CChar>!, _ c: UnsafeMutablePointer<DarwinTypes.stat>!, _ d: Int32)
    -> Int32
{ fatalError() }
@discardableResult
public func fstatvfs(_ a: Int32, _ b: UnsafeMutablePointer<DarwinTypes.statvfs>!) -> Int32 { fatalError() }
@discardableResult
public func fsync(_ a: Int32) -> Int32 { fatalError() }
@discardableResult
public func ftruncate(_ a: Int32, _ b: off_t) -> Int32 { fatalError() }
@discardableResult
public func getcwd(_ a: UnsafeMutablePointer<CChar>!, _ b: Int) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult
public func getentropy(_ a: UnsafeMutableRawPointer!, _ b: Int) -> Int32 { fatalError() }
@discardableResult
public func getenv(_ a: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult
public func geteuid() -> uid_t { fatalError() }
@discardableResult
public func getgid() -> gid_t { fatalError() }
@discardableResult
public func getgrgid_r(
    _ a: gid_t, _ b: UnsafeMutablePointer<group>!, _ c: UnsafeMutablePointer<CChar>!, _ d: Int,
    _ e: UnsafeMutablePointer<UnsafeMutablePointer<group>?>!
) -> Int32 { fatalError() }
@discardableResult
public func gethostname(_ a: UnsafeMutablePointer<CChar>!, _ b: Int) -> Int32 { fatalError() }
@discardableResult
public func getpid() -> pid_t { fatalError() }
@discardableResult
public func getpwuid_r(
    _ a: uid_t, _ b: UnsafeMutablePointer<passwd>!, _ c: UnsafeMutablePointer<CChar>!, _ d: Int,
    _ e: UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>!
) -> Int32 { fatalError() }
@discardableResult
public func getrlimit(_ a: Int32, _ b: UnsafeMutablePointer<rlimit>!) -> Int32 { fatalError() }
@discardableResult
public func getuid() -> uid_t { fatalError() }
@discardableResult
public func inet_ntop(_ a: Int32, _ b: UnsafeRawPointer!, _ c: UnsafeMutablePointer<CChar>!, _ d: socklen_t)
    -> UnsafePointer<CChar>!
{ fatalError() }
@discardableResult
public func inet_pton(_ a: Int32, _ b: UnsafePointer<CChar>!, _ c: UnsafeMutableRawPointer!) -> Int32 { fatalError() }
@discardableResult
public func ioctl(_ a: Int32, _ b: UInt) -> Int32 { fatalError() }
@discardableResult
public func ioctl(_ a: Int32, _ b: UInt, _ c: Int32) -> Int32 { fatalError() }
@discardableResult
public func ioctl(_ a: Int32, _ b: UInt, _ c: UnsafeMutableRawPointer) -> Int32 { fatalError() }
@discardableResult
public func isatty(_ a: Int32) -> Int32 { fatalError() }
@discardableResult
public func kill(_ a: pid_t, _ b: Int32) -> Int32 { fatalError() }
@discardableResult
public func lchown(_ a: UnsafePointer<CChar>!, _ b: uid_t, _ c: gid_t) -> Int32 { fatalError() }
@discardableResult
public func link(_ a: UnsafePointer<CChar>!, _ b: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func lseek(_ a: Int32, _ b: off_t, _ c: Int32) -> off_t { fatalError() }
@discardableResult
public func lstat(_ a: UnsafePointer<CChar>!, _ b: UnsafeMutablePointer<DarwinTypes.stat>!) -> Int32 { fatalError() }
@discardableResult
public func malloc(_ a: Int) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult
public func memchr(_ a: UnsafeRawPointer!, _ b: Int32, _ c: Int) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult
public func memcmp(_ a: UnsafeRawPointer!, _ b: UnsafeRawPointer!, _ c: Int) -> Int32 { fatalError() }
@discardableResult
public func memcpy(_ a: UnsafeMutableRawPointer!, _ b: UnsafeRawPointer!, _ c: Int) -> UnsafeMutableRawPointer! {
    fatalError()
}
@discardableResult
public func memmove(_ a: UnsafeMutableRawPointer!, _ b: UnsafeRawPointer!, _ c: Int) -> UnsafeMutableRawPointer! {
    fatalError()
}
@discardableResult
public func memset(_ a: UnsafeMutableRawPointer!, _ b: Int32, _ c: Int) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult
public func memset_s(_ a: UnsafeMutableRawPointer!, _ b: rsize_t, _ c: Int32, _ d: rsize_t) -> errno_t { fatalError() }
@discardableResult
public func mkdir(_ a: UnsafePointer<CChar>!, _ b: mode_t) -> Int32 { fatalError() }
@discardableResult
public func mkdirat(_ a: Int32, _ b: UnsafePointer<CChar>!, _ c: mode_t) -> Int32 { fatalError() }
@discardableResult
public func mkdtemp(_ a: UnsafeMutablePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult
public func mkstemp(_ a: UnsafeMutablePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func open(_ a: UnsafePointer<CChar>, _ b: Int32) -> Int32 { fatalError() }
@discardableResult
public func open(_ a: UnsafePointer<CChar>, _ b: Int32, _ c: mode_t) -> Int32 { fatalError() }
@discardableResult
public func openat(_ a: Int32, _ b: UnsafePointer<CChar>, _ c: Int32) -> Int32 { fatalError() }
@discardableResult
public func openat(_ a: Int32, _ b: UnsafePointer<CChar>, _ c: Int32, _ d: mode_t) -> Int32 { fatalError() }
@discardableResult
public func pause() -> Int32 { fatalError() }
@discardableResult
public func pread(_ a: Int32, _ b: UnsafeMutableRawPointer!, _ c: Int, _ d: off_t) -> Int { fatalError() }
@discardableResult
public func pwrite(_ a: Int32, _ b: UnsafeRawPointer!, _ c: Int, _ d: off_t) -> Int { fatalError() }
@discardableResult
public func raise(_ a: Int32) -> Int32 { fatalError() }
@discardableResult
public func read(_ a: Int32, _ b: UnsafeMutableRawPointer!, _ c: Int) -> Int { fatalError() }
@discardableResult
public func readlink(_ a: UnsafePointer<CChar>!, _ b: UnsafeMutablePointer<CChar>!, _ c: Int) -> Int { fatalError() }
@discardableResult
public func realloc(_ a: UnsafeMutableRawPointer!, _ b: Int) -> UnsafeMutableRawPointer! { fatalError() }
@discardableResult
public func realpath(_ a: UnsafePointer<CChar>!, _ b: UnsafeMutablePointer<CChar>!) -> UnsafeMutablePointer<CChar>! {
    fatalError()
}
@discardableResult
public func rename(_ a: UnsafePointer<CChar>!, _ b: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func renameat(_ a: Int32, _ b: UnsafePointer<CChar>!, _ c: Int32, _ d: UnsafePointer<CChar>!) -> Int32 {
    fatalError()
}
@discardableResult
public func rmdir(_ a: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func setenv(_ a: UnsafePointer<CChar>!, _ b: UnsafePointer<CChar>!, _ c: Int32) -> Int32 { fatalError() }
@discardableResult
public func setrlimit(_ a: Int32, _ b: UnsafePointer<rlimit>!) -> Int32 { fatalError() }
@discardableResult
public func signal(_ a: Int32, _ b: sig_t!) -> sig_t! { fatalError() }
@discardableResult
public func sleep(_ a: UInt32) -> UInt32 { fatalError() }
@discardableResult
public func stat(_ a: UnsafePointer<CChar>!, _ b: UnsafeMutablePointer<DarwinTypes.stat>!) -> Int32 { fatalError() }
@discardableResult
public func statvfs(_ a: UnsafePointer<CChar>!, _ b: UnsafeMutablePointer<DarwinTypes.statvfs>!) -> Int32 {
    fatalError()
}
@discardableResult
public func strcmp(_ a: UnsafePointer<CChar>!, _ b: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func strdup(_ a: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult
public func strerror(_ a: Int32) -> UnsafeMutablePointer<CChar>! { fatalError() }
@discardableResult
public func strlen(_ a: UnsafePointer<CChar>!) -> Int { fatalError() }
@discardableResult
public func strtod(_ a: UnsafePointer<CChar>!, _ b: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!) -> Double {
    fatalError()
}
@discardableResult
public func sysconf(_ a: Int32) -> Int { fatalError() }
@discardableResult
public func tcgetattr(_ a: Int32, _ b: UnsafeMutablePointer<termios>!) -> Int32 { fatalError() }
@discardableResult
public func tcsetattr(_ a: Int32, _ b: Int32, _ c: UnsafePointer<termios>!) -> Int32 { fatalError() }
@discardableResult
public func time(_ a: UnsafeMutablePointer<time_t>!) -> time_t { fatalError() }
@discardableResult
public func truncate(_ a: UnsafePointer<CChar>!, _ b: off_t) -> Int32 { fatalError() }
@discardableResult
public func umask(_ a: mode_t) -> mode_t { fatalError() }
@discardableResult
public func unlink(_ a: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func unlinkat(_ a: Int32, _ b: UnsafePointer<CChar>!, _ c: Int32) -> Int32 { fatalError() }
@discardableResult
public func unsetenv(_ a: UnsafePointer<CChar>!) -> Int32 { fatalError() }
@discardableResult
public func usleep(_ a: useconds_t) -> Int32 { fatalError() }
@discardableResult
public func utimes(_ a: UnsafePointer<CChar>!, _ b: UnsafePointer<timeval>!) -> Int32 { fatalError() }
@discardableResult
public func write(_ a: Int32, _ b: UnsafeRawPointer!, _ c: Int) -> Int { fatalError() }
@discardableResult
public func acos(_ a: Double) -> Double { fatalError() }
@discardableResult
public func asin(_ a: Double) -> Double { fatalError() }
@discardableResult
public func atan(_ a: Double) -> Double { fatalError() }
@discardableResult
public func atan2(_ a: Double, _ b: Double) -> Double { fatalError() }
@discardableResult
public func ceil(_ a: Double) -> Double { fatalError() }
@discardableResult
public func cos(_ a: Double) -> Double { fatalError() }
@discardableResult
public func exp(_ a: Double) -> Double { fatalError() }
@discardableResult
public func exp2(_ a: Double) -> Double { fatalError() }
@discardableResult
public func fabs(_ a: Double) -> Double { fatalError() }
@discardableResult
public func floor(_ a: Double) -> Double { fatalError() }
@discardableResult
public func fmod(_ a: Double, _ b: Double) -> Double { fatalError() }
@discardableResult
public func frexp(_ a: Double, _ b: UnsafeMutablePointer<Int32>!) -> Double { fatalError() }
@discardableResult
public func hypot(_ a: Double, _ b: Double) -> Double { fatalError() }
@discardableResult
public func log(_ a: Double) -> Double { fatalError() }
@discardableResult
public func log10(_ a: Double) -> Double { fatalError() }
@discardableResult
public func log2(_ a: Double) -> Double { fatalError() }
@discardableResult
public func pow(_ a: Double, _ b: Double) -> Double { fatalError() }
@discardableResult
public func round(_ a: Double) -> Double { fatalError() }
@discardableResult
public func sin(_ a: Double) -> Double { fatalError() }
@discardableResult
public func sqrt(_ a: Double) -> Double { fatalError() }
@discardableResult
public func tan(_ a: Double) -> Double { fatalError() }
@discardableResult
public func tanh(_ a: Double) -> Double { fatalError() }
@discardableResult
public func trunc(_ a: Double) -> Double { fatalError() }
@discardableResult
public func uname(_ a: UnsafeMutablePointer<utsname>!) -> Int32 { fatalError() }

/// An imported C function takes bytes of either sign (SE-0324), a function of Swift does not.
@discardableResult
public func strlen(_ a: UnsafePointer<UInt8>!) -> Int { fatalError() }
