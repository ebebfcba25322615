import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The identity of a store's file in the file system. A file keeps its identity when it is moved or renamed on
/// its volume, and a copy has another one.
public struct StoreFileIdentity: Hashable, Sendable {
    /// The volume, without spaces: its permanent identifier if it has one, else the device number.
    public let volume: String
    /// The number of the file on the volume (inode).
    public let file: UInt64

    /// Creates an identity, for a custom file system.
    public init(volume: String, file: UInt64) {
        self.volume = volume
        self.file = file
    }

    /// Reads the identity of an existing file.
    ///
    /// - Parameter path: The file; links are followed.
    /// - Returns: `nil` if there is none.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(
            volume: Self.volumeIdentifier(path) ?? "device-\(UInt64(truncatingIfNeeded: status.st_dev))",
            file: UInt64(status.st_ino))
    }

    /// The identifier of a volume that stays after a restart, unlike its device number.
    private static func volumeIdentifier(_ path: String) -> String? {
        #if canImport(Darwin)
            let values = try? URL(fileURLWithPath: path).resourceValues(forKeys: [.volumeUUIDStringKey])
            return values?.volumeUUIDString.map { "volume-\($0)" }
        #else
            var status = statvfs()
            guard statvfs(path, &status) == 0, status.f_fsid != 0 else { return nil }
            return "volume-\(String(UInt64(status.f_fsid), radix: 16))"
        #endif
    }
}
