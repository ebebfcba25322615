import ArgumentParser
import Foundation
import ODataClient
import ODataHTTP
import ODataModel
import ODataService
import ODataTransportNIO
import Secrets

/// How a service is reached.
struct ServiceOptions: ParsableArguments {
    @Option(help: "The user at the service; the password is asked for.")
    var user: String?

    @Option(
        name: .customLong("password-file"),
        help: ArgumentHelp("A file with the password, instead of being asked for it.", valueName: "file"))
    var passwordFile: String?

    @Option(help: ArgumentHelp("A PEM file with the certificates to trust besides the system's.", valueName: "file"))
    var trust: String?

    /// Makes what connects to services with these options.
    func connector() throws -> Connector {
        var configuration = NIOTransport.Configuration()
        if let trust { configuration.trust.authorities = .systemAnd(.file(trust)) }
        let transport = MeteredTransport(try NIOTransport(configuration: configuration))
        return Connector(transport: transport, authentication: try authentication())
    }

    private func authentication() throws -> Authentication {
        guard let user else { return .none }
        if let passwordFile {
            guard let data = FileManager.default.contents(atPath: passwordFile) else {
                throw Failure(message: "\(passwordFile) cannot be read.")
            }
            return .basic(user: user, password: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines))
        }
        guard let password = Terminal.askSecret("Password of \(user): ") else {
            throw Failure(
                message: "A password is needed for \(user), and nobody is here to be asked.",
                advice: "Give a file that holds it: --password-file FILE")
        }
        return .basic(user: user, password: password)
    }
}

/// Makes clients of services, all over one transport that counts bytes.
struct Connector {
    let transport: MeteredTransport<NIOTransport>
    let authentication: Authentication

    /// A client of a service.
    func client(root: String, model: EntityDataModel? = nil) throws -> ODataClient {
        try ODataClient(serviceRoot: root, transport: transport, authentication: authentication, model: model)
    }

    /// Bytes received so far.
    var received: Int64 { transport.received }
    /// Bytes sent so far.
    var sent: Int64 { transport.sent }

    /// Ends all connections.
    func close() async throws { try await transport.base.shutdown() }
}
