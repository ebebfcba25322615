import ODataService

extension UploadStep {
    /// The answers to the requests of a unit.
    struct Answers: Sendable {
        /// The facts about them that decide.
        let answer: Verdict.Answer
        /// The answers of a service that accepted all requests.
        private(set) var responses: [ODataResponse] = []

        init(_ answer: Verdict.Answer) { self.answer = answer }

        /// - Parameter results: the answer to each request of the unit.
        init(_ results: [Result<ODataResponse, ODataError>]) {
            var errors: [(error: ODataError, isRefusal: Bool)] = []
            for result in results {
                switch result {
                case .failure(let error): errors.append((error, true))
                case .success(let response):
                    if let doubt = response.doubt { errors.append((doubt, false)) }
                    responses.append(response)
                }
            }
            // A request that was refused because of another one says less than the refusal of that one.
            guard let first = errors.first(where: { $0.error.status != 424 }) ?? errors.first else {
                answer = .accepted
                return
            }
            if errors.count < results.count {
                answer = .partlyRefused(first.error)
            } else {
                answer = first.isRefusal ? .refused(first.error) : .notDone(first.error)
            }
        }

        /// The error of an answer that is not a success.
        var error: ODataError? {
            switch answer {
            case .accepted, .partlyAnswered: nil
            case .notDone(let error), .refused(let error), .batchRefused(let error), .partlyRefused(let error),
                .unreadable(let error):
                error
            }
        }
    }
}

extension ODataResponse {
    /// The error if a response does not confirm the change; `nil` if it does. Status 202 leaves the outcome to a
    /// later response.
    var doubt: ODataError? {
        guard !(200..<300).contains(status) || status == 202 else { return nil }
        return ODataError(
            status: status, code: "NotDone",
            message: "The service answered \(status), which does not confirm the change.")
    }
}
