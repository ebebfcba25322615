import ArgumentParser
import Foundation
import ODataHTTP
import ODataServer
import ToolLanguage

/// The options for the callers of a service and the limits of a client.
struct DoorOptions: ParsableArguments {
    @Option(
        name: .customLong("host-name"),
        help: .text(
            """
            Answer to this name, too. IP addresses, localhost, this machine's name and the host of --base-url need no \
            mention; other names are refused with 421.
            """, valueName: "name"))
    var hostNames: [String] = []

    @Option(
        name: .customLong("max-requests-at-once"),
        help: .text("The maximum number of concurrent requests of one address; 0 for no limit.", valueName: "count"))
    var requestsAtOnce = AddressLimits.defaultRequestsAtOnce

    @Option(
        name: .customLong("max-requests-per-minute"),
        help: .text(
            "The maximum number of requests of one address in a minute, without further pages; 0 for no limit.",
            valueName: "count"))
    var requestsPerMinute = AddressLimits.defaultRequestsPerMinute

    @Flag(help: .text("Serve a clone without its token, to every user and program of this machine; on loopback only."))
    var open = false

    @Flag(name: .customLong("print-token"), help: .text("Print the token of a served clone."))
    var printToken = false

    func validate() throws {
        guard requestsAtOnce >= 0 else { throw ValidationError(translated("--max-requests-at-once is 0 or more.")) }
        guard requestsPerMinute >= 0 else {
            throw ValidationError(translated("--max-requests-per-minute is 0 or more."))
        }
        for name in hostNames where !Self.isName(name) {
            throw ValidationError(
                translated("--host-name: '\(name)' is no host name, such as api.example, without a port."))
        }
        guard !open || !printToken else {
            throw ValidationError(translated("--open needs no token: leave out --print-token."))
        }
    }

    private static func isName(_ text: String) -> Bool {
        AcceptedHosts([text]).accepts(text) && !text.contains(":")
    }

    /// The names that the service answers to.
    func hosts(baseURL: String?) -> AcceptedHosts {
        AcceptedHosts(hostNames + [baseURL.flatMap { URLComponents(string: $0)?.host }].compactMap { $0 })
    }

    /// How much one address may ask.
    var limits: AddressLimits {
        AddressLimits(
            requestsAtOnce: requestsAtOnce == 0 ? nil : requestsAtOnce,
            requestsPerMinute: requestsPerMinute == 0 ? nil : requestsPerMinute)
    }
}
