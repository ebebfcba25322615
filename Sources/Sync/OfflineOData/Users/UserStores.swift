import Crypto
import Foundation

/// A folder with a store for each user of a device.
///
/// ```swift
/// let stores = UserStores(directory: folder)
/// let store = try await OfflineStore.open(at: stores.directory(ofUser: "ann"), protection: protection)
/// ```
///
/// Users do not see each other's rows, because each has a separate file and key. For one file that all users
/// share, see ``OfflineStore/Users/switch(to:pending:)``.
public struct UserStores: Sendable {
    /// The folder with a directory for each user.
    public let directory: String

    /// - Parameter directory: The folder, which need not exist.
    public init(directory: String) {
        self.directory = directory
    }

    /// The directory of a user's store. Its name is a digest, so that it does not reveal the user.
    ///
    /// - Parameter user: The name of the user at the service; texts that differ in case are different users.
    public func directory(ofUser user: String) -> String {
        let digest = SHA256.hash(data: Data(user.precomposedStringWithCanonicalMapping.utf8))
        let digits = digest.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return directory + "/" + digits
    }

    /// Whether a user has a store.
    public func contains(_ user: String) -> Bool {
        FileManager.default.fileExists(atPath: StoreFiles.database(in: directory(ofUser: user)))
    }

    /// Removes a user's store with all its pending changes, and its whole directory. It must not be open.
    ///
    /// - Throws: as ``OfflineStore/remove(at:)``.
    public func remove(_ user: String) throws(OfflineError) {
        try OfflineStore.remove(at: directory(ofUser: user), withDirectory: true)
    }
}
