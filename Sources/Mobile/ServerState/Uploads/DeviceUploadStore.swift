/// Uploads of devices, which arrive in parts and can be resumed on any node.
///
/// Whatever ``append(_:to:at:)`` has returned survives the end of the node.
public protocol DeviceUploadStore: Sendable {
    /// Begins an upload.
    ///
    /// - Throws: ``ServerStateError/limitExceeded(name:limit:)`` if the device has too many unfinished uploads, or
    ///   keeps too many bytes; ``ServerStateError/alreadyExists(kind:name:)``.
    func begin(_ new: NewDeviceUpload) async throws(ServerStateError) -> DeviceUploadRecord

    /// Returns an upload.
    func upload(_ id: String) async throws(ServerStateError) -> DeviceUploadRecord?

    /// Returns a selection of uploads, newest first.
    func uploads(_ filter: DeviceUploadFilter) async throws(ServerStateError) -> [DeviceUploadRecord]

    /// Appends bytes.
    ///
    /// - Parameters:
    ///   - bytes: At most ``DeviceUploadLimits/part`` bytes.
    ///   - id: The upload.
    ///   - offset: The number of bytes before them.
    /// - Returns: The number of bytes that are stored now.
    /// - Throws: ``ServerStateError/changed(kind:name:)`` if the upload has another number of bytes, or is complete.
    func append(_ bytes: [UInt8], to id: String, at offset: Int64) async throws(ServerStateError) -> Int64

    /// Completes an upload.
    ///
    /// - Parameters:
    ///   - id: The upload.
    ///   - size: The number of bytes.
    ///   - digest: The SHA-256 of the bytes.
    ///   - expiresAt: The moment at which the upload goes.
    /// - Throws: ``ServerStateError/changed(kind:name:)`` if the upload has another number of bytes. A second call
    ///   with the same digest changes nothing.
    func finish(
        _ id: String, size: Int64, digest: [UInt8], expiresAt: ServerInstant
    ) async throws(ServerStateError) -> DeviceUploadRecord

    /// Returns bytes of an upload from an offset on; empty at the end. Parts come as they were appended.
    func bytes(of id: String, from offset: Int64) async throws(ServerStateError) -> [UInt8]

    /// Removes an upload with its bytes.
    ///
    /// - Returns: Whether it existed.
    func remove(_ id: String) async throws(ServerStateError) -> Bool
}
