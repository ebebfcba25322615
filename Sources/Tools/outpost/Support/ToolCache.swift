import DataVault
import ODataCache
import Secrets

/// The cache of metadata between runs of the tool, so that metadata are transferred only after a change. The
/// cache is encrypted; `--no-cache` does not use it.
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
