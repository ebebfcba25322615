import OfflineOData

extension QueryRefusal {
    /// What to do about it.
    var advice: TerminalText? {
        if wasLoaded, [400, 404].contains(error.status) {
            return "The service may have changed; bring the clone to what it has now: outpost pull DIR --metadata"
        }
        if isOfAnswer {
            return wasLoaded
                ? "If the service has changed, bring the clone to what it has now: outpost pull DIR --metadata"
                : "This is for the people who run the service."
        }
        return Failure(error).advice
    }
}
