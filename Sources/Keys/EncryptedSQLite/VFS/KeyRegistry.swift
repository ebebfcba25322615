import Synchronization

/// The ciphers of the unlocked databases of this process, by canonical path (`rules.md` 31).
///
/// One registry for all connections makes `ATTACH` work, because SQLite passes only a path.
final class KeyRegistry: Sendable {
    static let shared = KeyRegistry()

    private let ciphers = Mutex<[String: PageCipher]>([:])

    func cipher(forPath path: String) -> PageCipher? {
        ciphers.withLock { $0[path] }
    }

    func register(_ cipher: PageCipher, forPath path: String) {
        ciphers.withLock { $0[path] = cipher }
    }

    func forget(path: String) {
        ciphers.withLock { _ = $0.removeValue(forKey: path) }
    }
}
