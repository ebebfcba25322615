import ODataService

/// Requests that are sent together and succeed or fail together: one request by itself, or the requests of a change set
/// (OData Protocol 4.01, 11.7.4).
struct UploadUnit: Sendable {
    /// The requests in the order in which they are sent; never empty.
    let requests: [QueuedRequest]

    /// - Returns: `nil` without requests.
    init?(_ requests: [QueuedRequest]) {
        guard !requests.isEmpty else { return nil }
        self.requests = requests
    }

    private init(copying requests: [QueuedRequest]) { self.requests = requests }

    /// The number under which attempts are counted.
    var id: Int64 { requests[0].id }

    /// Whether it is a single request, which is sent without a batch.
    var isSingle: Bool { requests.count == 1 }

    /// Whether one of its requests was sent before and its outcome is not known yet.
    var mayHaveActed: Bool { requests.contains(where: \.mayHaveActed) }

    /// The content, as far as it decides over an answer.
    var content: Verdict.Facts.Content {
        isSingle ? .single(requests[0].kind) : .changeSet(isHarmfulTwice: isHarmfulTwice)
    }

    /// Whether a second execution of one of its requests has another effect than the first one.
    var isHarmfulTwice: Bool { requests.contains(where: \.isHarmfulTwice) }

    /// The number of transmissions that the options of its requests allow when the service is busy.
    var retries: Int { requests[0].options.retries }

    /// The same unit, as if never sent.
    var asPending: UploadUnit { UploadUnit(copying: requests.map(\.asPending)) }

    /// The same unit with its requests as they are in the queue after a change.
    ///
    /// - Returns: `nil` if one of them left the queue meanwhile.
    func renewed(_ current: [QueuedRequest]) -> UploadUnit? {
        current.count == requests.count ? UploadUnit(current) : nil
    }
}

extension QueuedRequest {
    /// Whether a second execution has another effect than the first one. Only the service knows the effect of an
    /// action.
    var isHarmfulTwice: Bool { kind.isHarmfulTwice || options.action != nil }

    /// The same request, as if never sent.
    var asPending: QueuedRequest {
        var request = self
        request.state = .pending
        request.firstSentField = nil
        request.failure = nil
        return request
    }
}
