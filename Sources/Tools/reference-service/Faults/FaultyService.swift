import HTTPTypes
import ODataQuery
import ODataServer
import ODataService
import Synchronization

/// A service with the faults of a script.
final class FaultyService: ProviderWrapper {
    let base: any ODataProvider
    private let script: FaultScript
    private let state = Mutex((changes: 0, ended: Set<String>()))

    /// Whether the answer to a request is to be lost, as the service tells the connection.
    private final class Loss: Sendable {
        let isWanted = Mutex(false)
    }

    @TaskLocal private static var loss: Loss?

    init(base: any ODataProvider, script: FaultScript) {
        self.base = base
        self.script = script
    }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        guard request.method != .read else {
            if let set = Self.set(request.url), state.withLock({ $0.ended.contains(set) }) {
                throw ODataError(
                    status: 403, code: "SubscriptionEnded", message: "The service ended the subscription of \(set).")
            }
            return try await base.execute(request)
        }
        guard case .batch(let items) = request.body else {
            try await prepare(take())
            return try await base.execute(request)
        }
        for item in items where item.request.method != .read { try await prepare(take()) }
        return try await base.execute(request)
    }

    private static func set(_ url: ODataURL) -> String? {
        guard case .name(let name, _)? = url.path.segments.first else { return nil }
        return name.text
    }

    /// The faults of the next change.
    private func take() -> [FaultScript.Step] {
        state.withLock { state in
            state.changes += 1
            let steps = script.steps.filter { $0.change == state.changes }
            state.ended.formUnion(steps.compactMap(\.endsSubscription))
            return steps
        }
    }

    private func prepare(_ steps: [FaultScript.Step]) async throws {
        for step in steps {
            if let delay = step.delay { try await Task.sleep(for: .seconds(delay)) }
            if let refusal = step.refusal { throw refusal }
            if step.losesAnswer == true { Self.loss?.isWanted.withLock { $0 = true } }
        }
    }

    private struct Lost: Error {}

    /// Returns a handler that breaks the connection in place of a lost answer.
    static func handler(
        _ handler: @escaping ODataServer.IdentifiedHandler
    ) -> ODataServer.IdentifiedHandler {
        { request, body, principal in
            let loss = Loss()
            let (response, stream) = await $loss.withValue(loss) { await handler(request, body, principal) }
            guard loss.isWanted.withLock({ $0 }) else { return (response, stream) }
            // The server ends the connection if the body fails after its beginning.
            let hasBegun = Mutex(false)
            let broken = ByteStream(length: 2) {
                let isFirst = hasBegun.withLock { hasBegun in
                    defer { hasBegun = true }
                    return !hasBegun
                }
                guard isFirst else { throw Lost() }
                return Array("{".utf8)
            }
            return (HTTPResponse(status: response.status), broken)
        }
    }
}
