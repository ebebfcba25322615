import Foundation

/// How many file descriptors this process has open; `nil` where the system does not tell.
public func openDescriptors() -> Int? {
    try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

/// How many sockets this process has open; `nil` where the system does not tell.
public func openSockets() -> Int? {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return nil }
    return names.count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.hasPrefix("socket:")
            ?? false
    }
}
