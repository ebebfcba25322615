import OfflineOData
import ToolLanguage

extension QueryRefusal {
    /// The next step for the person.
    var advice: TerminalText? {
        if wasLoaded, [400, 404].contains(error.status) {
            return "The service may have changed. Apply its changes: outpost pull DIR --metadata"
        }
        if isOfAnswer {
            return wasLoaded
                ? "If the service has changed, apply its changes: outpost pull DIR --metadata"
                : "Report this to the operator of the service."
        }
        return Failure(error).advice
    }
}
