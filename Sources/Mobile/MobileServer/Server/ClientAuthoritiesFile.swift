import Foundation

/// The file with the authorities that TLS accepts for client certificates: those of the configuration, and the
/// authority of device certificates.
///
/// ```swift
/// options.clientAuthorities = try ClientAuthoritiesFile.write(
///     in: folder, configured: "clients.pem", devices: part.authorityPEM)
/// ```
public enum ClientAuthoritiesFile {
    /// The name of the file in the data folder.
    public static let name = "client-authorities.pem"

    /// Writes the file.
    ///
    /// - Parameters:
    ///   - folder: The data folder.
    ///   - configured: The path of the PEM file of the configuration, relative to the folder; `nil` for none.
    ///   - devices: The authority of device certificates in PEM.
    /// - Returns: The path of the file.
    /// - Throws: ``ServerFolderError/unusable(path:reason:)`` if a file cannot be read or written.
    public static func write(
        in folder: String, configured: String?, devices: String
    ) throws(ServerFolderError) -> String {
        let path = folder + "/" + name
        var text = devices
        if let configured {
            let source = configured.hasPrefix("/") ? configured : folder + "/" + configured
            guard let own = try? String(contentsOfFile: source, encoding: .utf8) else {
                throw .unusable(path: source, reason: "the authorities of client certificates cannot be read")
            }
            text = own + (own.hasSuffix("\n") ? "" : "\n") + devices
        }
        do {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            throw .unusable(path: path, reason: error.localizedDescription)
        }
        return path
    }
}
