/// How a stored log is encrypted: two functions of the caller's, as this library knows no cipher.
///
/// ```swift
/// let cipher = RecordCipher(key: key, purpose: "log")            // of the library Secrets
/// let sealing = LogSealing(seal: { try cipher.seal($0) }, open: { try cipher.open($0) })
/// let log = try StoredLog(folder: folder, sealing: sealing)
/// ```
public struct LogSealing: Sendable {
    let seal: @Sendable ([UInt8]) throws -> [UInt8]
    let open: @Sendable ([UInt8]) throws -> [UInt8]

    /// Makes a sealing.
    ///
    /// - Parameters:
    ///   - seal: Encrypts and authenticates a record.
    ///   - open: Gives back what was sealed; throws for anything else.
    public init(
        seal: @escaping @Sendable ([UInt8]) throws -> [UInt8], open: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) {
        self.seal = seal
        self.open = open
    }
}
