import Foundation
import Logging
import ODataModel
import ODataQuery
import ODataServer

/// The configuration, users, rights and certificate that a running service reads again at SIGHUP. All of them are
/// read before one is replaced, so that a wrong file changes nothing.
struct ServeReload: Sendable {
    private let arguments: [String]
    private let former: ServeArguments?
    private let running: RunningServer
    private let users: UserDirectory?
    private let rights: CurrentRights?
    private let model: EntityDataModel
    private let functions: FunctionRegistry

    /// - Parameter arguments: the arguments of the process, with its name.
    init(
        arguments: [String], running: RunningServer, users: UserDirectory?, rights: CurrentRights?,
        model: EntityDataModel, functions: FunctionRegistry
    ) {
        self.arguments = Array(arguments.dropFirst())
        former = (try? ServeArguments.expanded(self.arguments)).map { ServeArguments($0.dropFirst()) }
        self.running = running
        self.users = users
        self.rights = rights
        self.model = model
        self.functions = functions
    }

    private var logger: Logger { Logger(label: "outpost.serve") { TerminalLogHandler(label: $0) } }

    /// Reads everything again and reports the result.
    func run() async {
        do {
            let expanded = try ServeArguments.expanded(arguments)
            guard let fresh = try Outpost.parseAsRoot(expanded) as? Serve else { return }
            let passwords = try fresh.access.passwords()
            let file = try fresh.rights.map { try RightsFile(path: $0) }
            try file?.check(in: model, functions: functions)
            if let key = fresh.access.tls?.privateKeyFile { try NamedFile.requireSafe(key) }
            // From here on, nothing fails after something was replaced.
            if let tls = fresh.access.tls, running.url.hasPrefix("https:") { try running.replaceCertificate(by: tls) }
            if let users, let passwords { users.replace(hashes: passwords.hashes, passwords: passwords.passwords) }
            if let rights, let file { rights.replace(by: file, in: model) }
            let later = restarting(ServeArguments(expanded.dropFirst()))
            guard later.isEmpty else {
                return logger.warning(
                    "reloaded; other settings change at the next start",
                    metadata: ["settings": "\(later.joined(separator: ","))"])
            }
            logger.info("reloaded")
        } catch {
            let reason =
                Failure.isParserError(error) ? Outpost.message(for: error) : Failure(error).message.description
            logger.error("not reloaded, the former settings stay: \(reason)")
        }
    }

    /// Returns the changed settings that need a restart: those that are not read again, and sign-ins, rights and TLS
    /// that appear or disappear.
    private func restarting(_ fresh: ServeArguments) -> [String] {
        guard let former else { return [] }
        return fresh.differences(from: former).filter { name in
            guard let setting = ServeSetting.all.first(where: { $0.name == name }), setting.isReloaded else {
                return true
            }
            return (fresh.options[name] == nil) != (former.options[name] == nil)
        }
    }
}
