import Crypto
import Foundation

/// A folder with a store for each user of a device.
///
/// ```swift
/// let stores = UserStores(directory: folder)
/// let store = try await OfflineStore.open(at: stores.directory(ofUser: "ann"), protection: protection)
/// ```
///
/// Users do not see each other's rows, because each has a file and a key of his own. Where all share one file, see
/// ``OfflineStore/Users/switch(to:pending:)``.
public struct UserStores: Sendable {
    /// The folder that has a directory for each user.
    public let directory: String

    /// - Parameter directory: The folder, which need not exist.
    public init(directory: String) {
        self.directory = directory
    }

    /// The directory of a user's store. Its name is a digest, so that it does not say who uses the device.
    ///
    /// - Parameter user: The user as the service knows him; texts that differ in case are different users.
    public func directory(ofUser user: String) -> String {
        let digest = SHA256.hash(data: Data(user.precomposedStringWithCanonicalMapping.utf8))
        let digits = digest.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return directory + "/" + digits
    }

    /// Whether a user has a store.
    public func contains(_ user: String) -> Bool {
        FileManager.default.fileExists(atPath: StoreFiles.database(in: directory(ofUser: user)))
    }

    /// Removes a user's store with all changes that wait in it, and its directory with all else. It must not be open in
    /// this process.
    ///
    /// - Throws: as ``OfflineStore/remove(at:)``.
    public func remove(_ user: String) throws(OfflineError) {
        try OfflineStore.remove(at: directory(ofUser: user), withDirectory: true)
    }
}
