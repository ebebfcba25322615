// A process of its own for the tests of vaults: it guesses, dies in the middle, or works beside another one.
import DataVault
import Foundation
import Secrets

/// A key store that ends the process with SIGKILL right after something was kept: between the count of an
/// attempt and its check.
struct DeadlyStore: SecretStore {
    let base: FileSecretStore

    func secret(named name: SecretName) throws(DataVaultError) -> Secret<[UInt8]>? { try base.secret(named: name) }
    func set(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
        try base.set(secret, named: name)
        kill(getpid(), SIGKILL)
    }
    func add(_ secret: Secret<[UInt8]>, named name: SecretName) throws(DataVaultError) {
        try base.add(secret, named: name)
    }
    func remove(named name: SecretName) throws(DataVaultError) { try base.remove(named: name) }
    func names() throws(DataVaultError) -> [SecretName] { try base.names() }
}

@main
struct VaultProbe {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5 else {
            print("usage: VaultProbe die|guess|count|dumps FOLDER VAULT PASSWORD [TIMES]")
            exit(2)
        }
        let (directory, name) = (arguments[2], arguments[3])
        let credentials = VaultCredentials(password: arguments[4])
        let times = arguments.count > 5 ? Int(arguments[5]) ?? 1 : 1
        let keys = try FileSecretStore(directory: directory + "/keys")
        let vaults = try VaultFolder(directory: directory, keys: keys)
        switch arguments[1] {
        case "die":
            let deadly = try VaultFolder(directory: directory, keys: DeadlyStore(base: keys))
            try await deadly.open(name).unlock(credentials)
        case "guess":
            for _ in 0..<times { print(try await guess(vaults, name, credentials), terminator: "") }
        case "count":
            // Adds values of its own while others add theirs.
            let vault = try vaults.open(name)
            try await vault.unlock(credentials)
            for index in 0..<times { try await vault.setString("\(index)", named: "\(getpid())-\(index)") }
        case "dumps":
            // Whether the system agreed, and the limits of core files.
            let isAgreed = MemoryDumps.forbid()
            var limit = rlimit()
            #if os(Linux)
                getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            #else
                getrlimit(RLIMIT_CORE, &limit)
            #endif
            print(isAgreed, limit.rlim_cur, limit.rlim_max)
        default:
            exit(2)
        }
    }

    /// One letter per attempt: w wrong, d destroyed, n no vault any more, o opened.
    private static func guess(_ vaults: VaultFolder, _ name: String, _ credentials: VaultCredentials) async throws
        -> String
    {
        let error: DataVaultError
        do throws(DataVaultError) {
            try await vaults.open(name).unlock(credentials)
            return "o"
        } catch let refusal {
            error = refusal
        }
        switch error {
        case .wrongPassword: return "w"
        case .destroyed: return "d"
        case .noVault: return "n"
        default: throw error
        }
    }
}
