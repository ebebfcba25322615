import ArgumentParser
import Foundation
import ODataSQL
import OfflineOData
import Secrets

/// The store that a command works on, and its key.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The directory of the clone.", completion: .directory)
    var directory: String

    @OptionGroup var key: KeyOptions

    /// Opens the store without a connection to its service.
    func open() async throws -> OfflineStore {
        try await OfflineStore.open(at: directory, protection: try key.protection(ofCloneIn: directory))
    }

    /// Opens the store with a connection to its service, in the way in which the clone was made.
    func open(
        _ service: ServiceOptions, _ keeping: KeepingOptions, download: DownloadOptions? = nil
    ) async throws -> ConnectedStore {
        let protection = try key.protection(ofCloneIn: directory)
        var connector = try service.anonymousConnector(download)
        do {
            let store = try await OfflineStore.open(
                at: directory, protection: protection, options: connector.storeOptions,
                connecting: { basis in
                    try keeping.completed(service, in: basis).signIn(&connector)
                    return try connector.client(root: basis.serviceRoot, model: basis.model)
                })
            if keeping.keepsOptions {
                try await store.setKeptText(KeptConnection.name, to: try KeptConnection(service).text)
            }
            return ConnectedStore(store: store, connector: connector)
        } catch {
            try? await connector.close()
            throw error
        }
    }
}

/// A store with the connection that it syncs over.
struct ConnectedStore {
    let store: OfflineStore
    let connector: Connector

    /// Runs a synchronisation with its progress shown, then closes everything.
    func run<Report>(_ body: (OfflineStore) async throws -> Report) async throws -> Report {
        let line = ProgressLine(store)
        do {
            let report = try await body(store)
            line.finish()
            try await close()
            return report
        } catch {
            line.finish()
            try? await close()
            throw error
        }
    }

    func close() async throws {
        try store.close()
        try await connector.close()
    }
}

/// Where a store's key comes from.
struct KeyOptions: ParsableArguments {
    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp(
            "A file with the key, made by 'outpost keys new'; any other text in it is a passphrase.",
            valueName: "file"))
    var keyFile: String?

    @OptionGroup var secrets: SecretOptions

    /// The key in the file that is named; `nil` where none is.
    ///
    /// - Throws: ``Failure`` and `SecretError`, which name the file.
    var source: KeySource? {
        get throws {
            guard let keyFile else { return nil }
            return try KeySource(namedFile: keyFile)
        }
    }

    /// The protection of a clone that exists.
    func protection(ofCloneIn directory: String) throws -> StoreProtection {
        try CloneFile.requireDirectory(directory)
        if let source = try source { return .encrypted(source) }
        switch try CloneFile.read(in: directory).key {
        case .vault(let name):
            let key = try KeyKeeper.key(named: name)
            KeyUses.note(name, directory)
            return .encrypted(.key(key))
        case .passphrase:
            guard let passphrase = try Terminal.askSecret("Passphrase of \(directory): ") else {
                throw Failure(
                    message: "\(directory) is protected by a passphrase, and nobody is here to be asked.",
                    advice: "Give a file that holds it: --key-file FILE")
            }
            return .encrypted(.passphrase(Secret(passphrase)))
        case .file:
            throw Failure(
                message: "\(directory) is protected by a key file.", advice: "Name it: --key-file FILE",
                status: .misused)
        }
    }
}

extension KeySource {
    /// Reads a key file that a person named.
    init(namedFile path: String) throws {
        do {
            self = try KeySource(keyFile: path, allowsExposed: SecretOptions.allowsExposed)
        } catch SecretError.emptyPassphrase {
            throw Failure(
                message: "The key file \(path) is empty.",
                advice: "It holds a key or a passphrase. Make a key with: outpost keys new FILE", status: .misused)
        }
    }
}
