import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Synchronization

/// The message forms that a service accepts, as learned from its responses. The standard leaves a choice, and
/// not every service supports all forms.
final class MessageForms: Sendable {
    /// A combination of message options.
    struct Form: Hashable, Sendable {
        var entityFormat: MessageDialect.EntityFormat
        /// The HTTP method of an update.
        var updateMethod: MessageDialect.UpdateMethod
        /// Whether an update is tunnelled through POST.
        var tunnelsUpdates = false
        /// Whether keys are path segments: `Items/1` instead of `Items(1)` (OData URL Conventions 4.01, 4.3.6).
        var hasKeySegments = false
    }

    private struct State {
        var form: Form?
        /// Whether an entity was found with a key in parentheses.
        var findsKeys = false
    }

    private let state = Mutex(State())
    private let configuration: ODataClient.Configuration

    init(_ configuration: ODataClient.Configuration) { self.configuration = configuration }

    /// Returns the form of the next request.
    func current(_ model: EntityDataModel) -> Form {
        if let form = state.withLock({ $0.form }) { return form }
        var form = Form(entityFormat: configuration.entityFormat, updateMethod: configuration.updateMethod)
        let formats = model.container.supportedFormats
        if model.version < .v4, formats.contains(where: { $0.contains("atom") }),
            !formats.contains(where: { $0.contains("json") })
        {
            form.entityFormat = .atom
        }
        return form
    }

    /// Records that a request succeeded.
    func note(_ form: Form, of request: ODataRequest, isLearned: Bool) {
        let findsKeys = request.url.path.hasKey && !form.hasKeySegments && request.link == nil
        guard isLearned || findsKeys else { return }
        state.withLock { state in
            if isLearned { state.form = form }
            if findsKeys { state.findsKeys = true }
        }
    }

    /// Returns the other forms in which a refused request may be sent, in order. Each handled refusal proves
    /// that the request had no effect.
    func others(
        than form: Form, after error: ODataError, of request: ODataRequest, _ model: EntityDataModel
    ) -> [Form] {
        var forms: [Form] = []
        switch error.status {
        case 404,
            400 where request.method == .read && request.url.path.hasKey:
            guard request.link == nil, request.url.path.hasKey, !form.hasKeySegments else { return [] }
            guard !state.withLock({ $0.findsKeys }), request.url.path.withKeySegments() != nil else { return [] }
            var other = form
            other.hasKeySegments = true
            forms.append(other)
        case 405 where request.method == .update, 501 where request.method == .update:
            guard !configuration.tunnelsMethods, !form.tunnelsUpdates else { return [] }
            let allowed = Set(error.allowedMethods.map { $0.uppercased() })
            let isMerge = form.updateMethod == .merge || form.updateMethod == .automatic && model.version < .v3
            if allowed.contains(isMerge ? "PATCH" : "MERGE") || allowed.isEmpty && isMerge {
                var other = form
                other.updateMethod = isMerge ? .patch : .merge
                forms.append(other)
            }
            if allowed.contains("POST") || allowed.isEmpty && isMerge || !forms.isEmpty {
                var other = form
                other.tunnelsUpdates = true
                forms.append(other)
            }
        case 406 where model.version < .v4, 415 where model.version < .v4:
            guard form.entityFormat == .json, request.headers["Accept"] == nil else { return [] }
            var other = form
            other.entityFormat = .atom
            forms.append(other)
        default: break
        }
        return forms
    }

    /// Returns a read that shows whether the entity of a refused change exists in another form, or `nil` if the
    /// refusal is sufficient proof.
    func probe(before request: ODataRequest, in form: Form, after error: ODataError) -> ODataRequest? {
        guard error.status == 404, request.method != .read, form.hasKeySegments,
            let last = request.url.path.segments.lastIndex(where: \.hasKey)
        else { return nil }
        return ODataRequest(.read, ODataURL(path: ResourcePath(Array(request.url.path.segments[...last]))))
    }

    /// Returns a request in the given form.
    func request(_ request: ODataRequest, in form: Form) -> ODataRequest {
        guard form.hasKeySegments else { return request }
        var request = request
        if let path = request.url.path.withKeySegments() { request.url.path = path }
        if case .batch(var items) = request.body {
            for index in items.indices { items[index].request = self.request(items[index].request, in: form) }
            request.body = .batch(items)
        }
        return request
    }
}

extension PathSegment {
    fileprivate var hasKey: Bool {
        if case .name(_, .key) = self { true } else { false }
    }
}

extension ResourcePath {
    fileprivate var hasKey: Bool { segments.contains(where: \.hasKey) }

    /// Returns the path with each key as separate segments, or `nil` if there is no key or a key without such a
    /// form.
    fileprivate func withKeySegments() -> ResourcePath? {
        guard hasKey else { return nil }
        var result: [PathSegment] = []
        for segment in segments {
            guard case .name(let name, .key(let key)) = segment else {
                result.append(segment)
                continue
            }
            result.append(.name(name, .none))
            for value in key.children {
                guard case .literal(let literal) = value,
                    let text = literal.enumeration == nil ? literal.value.lexicalText : nil, !text.isEmpty
                else { return nil }
                result.append(.literal(Identifier(text)))
            }
        }
        return ResourcePath(result)
    }
}
