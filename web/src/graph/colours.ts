// Which colour a type has. The colours themselves are tokens, one set for light and one for dark.

export const N_COLOURS = 9;

/** Every node of every picture asks. */
const seen = new Map(Object.entries({
  herb: 1,
  constituent: 2,
  small_molecule: 2,
  chemical_entity: 2,
  indication: 3,
  disease: 3,
  condition: 4,
  phenotypic_feature: 4,
  drug: 5,
  drug_class: 6,
  formulation: 7,
  gene: 8,
  protein: 8,
  pathway: 7,
  biological_process: 9,
  anatomical_entity: 6,
  cellular_component: 2,
  molecular_activity: 5,
}));

/** 1 to 9; a type that is not known gets the same one every time. */
export function colourOf(kind: string): number {
  const known = seen.get(kind);
  if (known !== undefined) return known;
  const sum = Array.from(kind).reduce((total, letter) => (total * 31 + (letter.codePointAt(0) ?? 0)) % 65_521, 7);
  const colour = (sum % N_COLOURS) + 1;
  seen.set(kind, colour);
  return colour;
}

export interface Palette {
  kinds: string[];
  paper: string;
  surface: string;
  ink: string;
  line: string;
  faint: string;
  focus: string;
}

/** The tokens as the browser resolves them at this moment. */
export function readPalette(inside: HTMLElement): Palette {
  const resolve = (token: string) => {
    // One for each: a colour that changes would be read at the beginning of its transition.
    const probe = document.createElement('span');
    probe.style.color = `var(${token})`;
    inside.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  return {
    kinds: Array.from({ length: N_COLOURS }, (_, at) => resolve(`--kind-${at + 1}`)),
    paper: resolve('--paper'),
    surface: resolve('--surface'),
    ink: resolve('--ink'),
    line: resolve('--graph-line'),
    faint: resolve('--graph-faint'),
    focus: resolve('--focus'),
  };
}
