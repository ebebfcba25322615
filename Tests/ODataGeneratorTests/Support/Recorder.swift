import ODataModel
import ODataService
import Synchronization

/// A provider that records requests and returns the given responses.
final class Recorder: ODataProvider {
    let fixedModel: EntityDataModel
    private let state = Mutex<(requests: [ODataRequest], answers: [ODataResponse])>(([], []))

    init(model: EntityDataModel = HarbourMetadata.model, _ answers: [ODataResponse] = []) {
        fixedModel = model
        state.withLock { $0.answers = answers }
    }

    var model: EntityDataModel { get async throws { fixedModel } }

    var requests: [ODataRequest] { state.withLock { $0.requests } }

    /// The last request in the form `GET Ships?$top=1`.
    var last: String { requests.last.map { "\($0.method.rawValue) \($0.link ?? $0.url.description)" } ?? "" }

    var traits: ProviderTraits { .standard }

    func execute(_ request: ODataRequest) async throws -> ODataResponse {
        state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? ODataResponse(body: .page(EntityPage())) : state.answers.removeFirst()
        }
    }
}
