import ArgumentParser
import Foundation
import ODataSQL
import OfflineOData
import Secrets
import ToolLanguage

/// The store that a command works on, and its key.
struct StoreOptions: ParsableArguments {
    @Argument(help: .text("The directory of the clone."), completion: .directory)
    var directory: String

    @OptionGroup var key: KeyOptions

    /// Opens the store without a connection to its service.
    func open() async throws -> OfflineStore {
        try await OfflineStore.open(at: directory, protection: try key.protection(ofCloneIn: directory))
    }

    /// Opens the store with a connection to its service, by the options that the clone was made with.
    func open(
        _ service: ServiceOptions, _ keeping: KeepingOptions, download: DownloadOptions? = nil
    ) async throws -> ConnectedStore {
        let protection = try key.protection(ofCloneIn: directory)
        var connector = try service.anonymousConnector(download)
        do {
            let store = try await OfflineStore.open(
                at: directory, protection: protection, options: connector.storeOptions,
                connecting: { basis in
                    try keeping.completed(service, in: basis).signIn(&connector, at: basis.serviceRoot)
                    return try connector.client(root: basis.serviceRoot, model: basis.model)
                })
            if keeping.keepsOptions {
                try await store.setKeptText(KeptConnection.name, to: try KeptConnection(service).text)
            }
            return ConnectedStore(store: store, connector: connector, directory: directory)
        } catch {
            try? await connector.close()
            throw error
        }
    }
}

/// A store with the connection over which it is synchronised.
struct ConnectedStore {
    let store: OfflineStore
    let connector: Connector
    let directory: String

    /// Runs a synchronisation with its progress shown, then closes everything.
    ///
    /// - Parameter command: the name of the command that goes on after an interruption.
    func run<Report>(
        goingOnWith command: String = "sync", _ body: (OfflineStore) async throws -> Report
    ) async throws -> Report {
        let line = ProgressLine(store, kept: await store.keptRows())
        let notice = KeptNotice(store, goingOnWith: "outpost \(command) \(directory.shellQuoted)", line)
        defer { notice.end() }
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

extension OfflineStore {
    /// Returns the kept rows of each interrupted first download, for a terminal that shows progress.
    fileprivate func keptRows() async -> [String: Int] {
        guard Terminal.isInteractive(.error), let status = try? await observe.status() else { return [:] }
        return Dictionary(
            status.queries.filter { !$0.isLoaded }.map { ($0.name, $0.rows) }, uniquingKeysWith: { first, _ in first })
    }
}

/// The origin of the key of a store.
struct KeyOptions: ParsableArguments {
    @Option(
        name: .customLong("key-file"),
        help: .text(
            "A file with the key, made by 'outpost keys new'. Any other content is a passphrase.",
            valueName: "file"))
    var keyFile: String?

    @OptionGroup var secrets: SecretOptions

    /// The key in the named file; `nil` if no file is named.
    ///
    /// - Throws: ``Failure`` and `SecretError`, which name the file.
    var source: KeySource? {
        get throws {
            guard let keyFile else { return nil }
            return try KeySource(namedFile: keyFile)
        }
    }

    /// Returns the protection of an existing clone.
    func protection(ofCloneIn directory: String) throws -> StoreProtection {
        try CloneFile.requireDirectory(directory)
        if let source = try source {
            KeyUses.note(directory)
            return .encrypted(source)
        }
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
            KeyUses.note(directory)
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
