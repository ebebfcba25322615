import ODataHTTP
import Synchronization

/// Trusts the certificates that the user has accepted for a session, and asks about others.
final class TrustKeeper: Sendable {
    private let interaction: any OnboardingInteraction
    private let pins: Mutex<Set<String>>

    init(_ interaction: any OnboardingInteraction, pins: Set<String> = []) {
        self.interaction = interaction
        self.pins = Mutex(pins)
    }

    /// The public keys that the user has accepted.
    var accepted: Set<String> { pins.withLock { $0 } }

    /// The policy for a transport.
    var trust: ServerTrust {
        ServerTrust(decide: { [self] question in
            guard let key = question.chain.first?.pin else { return false }
            if pins.withLock({ $0.contains(key) }) { return true }
            guard await interaction.trust(question) else { return false }
            pins.withLock { _ = $0.insert(key) }
            return true
        })
    }
}
