import Foundation

/// Returns the number of open file descriptors of this process; `nil` if the system does not report it.
public func openDescriptors() -> Int? {
    try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

/// Returns the number of open sockets of this process; `nil` if the system does not report it.
public func openSockets() -> Int? {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return nil }
    return names.count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.hasPrefix("socket:")
            ?? false
    }
}
