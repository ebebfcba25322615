import DataVault
import ODataCache
import Secrets

/// What the tool read from services before, between its runs: metadata, so that they travel only when they have
/// changed. Encrypted; `--no-cache` goes without.
enum ToolCache {
    /// The store; `nil` for a user without a home.
    static let store: PersistentStore? = {
        guard let folder = ToolFolders.cache, let keys = ToolFolders.keys, let name = try? SecretName("cache") else {
            return nil
        }
        return PersistentStore(folder: folder, key: .generated(in: keys, named: name))
    }()

    /// The metadata of services.
    static var metadata: (any MetadataCache)? { store.map { PersistentMetadataCache($0) } }

    /// Documents by their address.
    static var responses: ResponseCache? { store.map { ResponseCache(store: PersistentResponseStore($0)) } }
}
