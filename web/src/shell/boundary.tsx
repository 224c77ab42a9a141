import { Component, type ComponentChildren } from "preact";

interface Props {
  /** The name of what stands inside. */
  name: string;
  children: ComponentChildren;
}

/** Keeps a fault of one screen from the others: says what happened, and offers to try again. */
export class Boundary extends Component<Props, { fault: string | undefined }> {
  override state: { fault: string | undefined } = { fault: undefined };

  static override getDerivedStateFromError(err: unknown) {
    return { fault: err instanceof Error ? err.message : String(err) };
  }

  override render() {
    const { fault } = this.state;
    if (fault === undefined) return this.props.children;
    return (
      <Fault
        title={`${this.props.name} cannot be shown`}
        detail={fault}
        onAgain={() => this.setState({ fault: undefined })}
      />
    );
  }
}

interface FaultProps {
  title: string;
  detail: string;
  onAgain(): void;
}

/** A screen's place when it cannot stand there. */
export function Fault({ title, detail, onAgain }: FaultProps) {
  return (
    <div class="card nothing" role="alert">
      <h1>{title}</h1>
      <p>
        The other screens still work, and nothing is lost at the node: this is a fault of the page.
      </p>
      <p class="quiet detail">{detail}</p>
      <p class="actions">
        <button type="button" class="primary" onClick={onAgain}>
          Try again
        </button>
        <button type="button" onClick={() => location.reload()}>
          Load the page anew
        </button>
      </p>
    </div>
  );
}
